//===- Ast.cpp - Spellings of the syntax tree's words -----------*- C++ -*-===//

#include "frontend/Ast.h"

namespace dyn::ast {

const char *kindName(Kind kind) {
  static const char *const names[] = {
#define NODE(name, base) #name,
#include "frontend/AstNodes.def"
  };
  return names[static_cast<size_t>(kind)];
}

std::string Path::text() const {
  std::string out;
  for (const Ident &name : names)
    out += (out.empty() ? "" : ".") + name.text;
  return out;
}

const char *clockName(Clock clock, bool plural) {
  static const char *const names[][2] = {
      {"step", "steps"}, {"epoch", "epochs"}, {"round", "rounds"}, {"example", "examples"}, {"second", "seconds"}};
  return names[static_cast<size_t>(clock)][plural];
}

const char *spelling(UnaryOp op) { return op == UnaryOp::Neg ? "-" : "not"; }

const char *spelling(BinaryOp op) {
  static const char *const names[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=",
                                      "+",  "-",   "*",  "/",  "//", "%", "@", "^"};
  return names[static_cast<size_t>(op)];
}

const char *spelling(Side side) {
  static const char *const names[] = {"client", "server", "node", "link"};
  return names[static_cast<size_t>(side)];
}

const char *spelling(RuleKind kind) {
  static const char *const names[] = {"estimator", "privacy",   "combiner",    "clip",     "compressor",
                                      "attack",    "aggregator", "optimizer",   "regularizer", "schedule",
                                      "sampler",   "federated", "decentral",   "probe"};
  return names[static_cast<size_t>(kind)];
}

const char *spelling(Setting setting) {
  static const char *const names[] = {"epochs", "steps", "rounds", "precision", "arrival", "graph", "workers"};
  return names[static_cast<size_t>(setting)];
}

} // namespace dyn::ast
