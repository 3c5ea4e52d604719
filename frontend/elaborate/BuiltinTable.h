//===- BuiltinTable.h - families of functions of the language -------------===//
//
// Those that have a file of their own and need nothing of the Elaborator's
// header: a new function touches its family and Builtins.def only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"

namespace dyn::elab {

class BuiltinTable {
public:
  using Args = Elaborator::Args;

  /// Ordering.cpp: sort argsort top_k largest quantile.
  static Value ordering(Elaborator &e, const std::string &name, const Args &args, Frame &frame);
  static Value median(Elaborator &e, const Value &x, const ast::Expr *axis, const ast::Expr *over, Span span, Frame &frame);
  /// LinearAlgebra.cpp: decompositions, solutions, Fourier transforms.
  static Value matrix(Elaborator &e, const std::string &name, const Args &args, const std::vector<Value> &values,
                      Frame &frame);
  /// Special.cpp: lgamma, atan2 ….
  static Value special(Elaborator &e, const std::string &name, const std::vector<Value> &values, Span span);

private:
  class Ordering;
  class MatrixCall;
  class Special;
};

} // namespace dyn::elab
