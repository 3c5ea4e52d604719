//===- Draws.cpp - distributions, and what names a draw -------------------===//
//
// The bits of a draw follow from the seed stream and the name of its place
// (siteOf), from step and loop pass (the counter), and from the element: see
// runtime/Random.h.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/Elaborator.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

int64_t siteOf(llvm::StringRef text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3ull;
  return static_cast<int64_t>(hash);
}

/// Parameters that are known must lie where the distribution exists.
bool Elaborator::checkDistribution(const Distribution &dist, Span span) {
  auto *last = dist.parameters.back().as<Const>();
  if (!last)
    return true;
  const char *what = dist.kind == "normal" && last->number < 0 ? "the `sd` of `normal`"
                     : dist.kind == "bernoulli" && !(last->number >= 0 && last->number <= 1) ? "the `p` of `bernoulli`"
                                                                                             : nullptr;
  if (what)
    diags.report(Diag::cannot_be, span, what, describeKnown(dist.parameters.back()));
  auto *low = dist.kind == "uniform" ? dist.parameters.front().as<Const>() : nullptr;
  if (low && last->number < low->number)
    diags.report(Diag::cannot_be, span, "the `high` of `uniform`", describeKnown(dist.parameters.back()))
        .help("it is at least `low`");
  return !what && !(low && last->number < low->number);
}

Value Elaborator::callDraw(const std::string &name, const Args &args, Frame &frame) {
  Span span = args.span;
  auto parameter = [&](size_t at, const char *word, double otherwise) -> Value {
    const ast::Expr *expr = args.positional.size() > at ? args.positional[at] : args.get(word);
    return expr ? evaluate(*expr, frame) : Value(Const{otherwise, Elem::Real, false, ""}, span);
  };
  if (name != "draw") {
    Distribution dist{name, {}};
    if (name == "normal")
      dist.parameters = {parameter(0, "mean", 0), parameter(1, "sd", 1)};
    else if (name == "uniform")
      dist.parameters = {parameter(0, "low", 0), parameter(1, "high", 1)};
    else
      dist.parameters = {parameter(0, "p", 0.5)};
    for (Value &value : dist.parameters)
      if (value.isInvalid())
        return {};
    return checkDistribution(dist, span) ? Value(std::move(dist), span) : Value();
  }
  Value dist = parameter(0, "", 0);
  if (dist.isInvalid())
    return {};
  if (!isDistribution(dist)) {
    diags.report(Diag::not_a_distribution, span, describe(dist)).help("`draw(normal())` draws one number");
    return {};
  }
  if (args.get("key")) {
    diags.report(Diag::draw_key, span);
    return {};
  }
  if (const ast::Expr *like = args.get("like")) {
    Value model = evaluate(*like, frame);
    auto t = model.isInvalid() ? std::nullopt : tensor(model, span);
    return t ? drawValue(dist, t->type().getShape(), t->type().getEncoding() ? t->type().getEncoding() : place, span, frame)
             : Value();
  }
  SmallVector<int64_t> shape;
  if (const ast::Expr *expr = args.get("shape")) {
    auto dims = shapeArgument(*expr, frame);
    if (!dims)
      return {};
    shape = *dims;
  }
  return drawValue(dist, shape, place, span, frame);
}

Value Elaborator::drawFrom(const Distribution &dist, ArrayRef<int64_t> shape, Attribute encoding, Span span,
                           Frame &frame) {
  if (!mayDraw) {
    diags.report(Diag::draw_not_here, span);
    return {};
  }
  ++drawsMade;
  std::string site = drawSite(frame);
  auto i64 = [&](int64_t x) { return *tensor(integer(x, span), span); };
  auto word = [&](mlir::Value value) {
    return create<nd::ReshapeOp>(span, value ? value : i64(0).value, ArrayRef<int64_t>{1});
  };
  mlir::Value step, base = i64(0).value;
  if (drawsByStep)
    step = create<run::ClockOp>(span, RankedTensorType::get({}, builder.getI64Type()), run::ClockKind::step);
  if (drawsByRow) {
    // Rows of data come in chunks: an element's number counts from the first row of all.
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    auto rows = create<run::ClockOp>(span, RankedTensorType::get({}, builder.getI64Type()), run::ClockKind::rows_base);
    if (encoding)
      base = create<nd::MulOp>(span, rows, i64(count).value);
  }
  SmallVector<mlir::Value> words = {word(step), word(drawPass), word(drawSeed), word({})};
  auto counter = create<nd::ConcatOp>(span, ValueRange(words), uint64_t(0));
  auto type = RankedTensorType::get(shape, realType, encoding);
  auto kind = dist.kind == "normal" ? nd::Dist::normal : nd::Dist::uniform;
  Value z(Tensor{create<nd::DrawOp>(span, type, kind, drawStream, counter, base, siteOf(site)), false, 0}, span);
  if (dist.kind == "bernoulli")
    return elementwise("lt", z, dist.parameters[0], span);
  auto isConst = [](const Value &value, double number) {
    auto *c = value.as<Const>();
    return c && !c->operand && c->number == number;
  };
  Value low = dist.parameters[0];
  Value scale = dist.kind == "normal" ? dist.parameters[1]
                                      : binary(ast::BinaryOp::Sub, dist.parameters[1], dist.parameters[0], span);
  if (!isConst(scale, 1))
    z = binary(ast::BinaryOp::Mul, scale, z, span);
  return isConst(low, 0) || z.isInvalid() ? z : binary(ast::BinaryOp::Add, low, z, span);
}

} // namespace dyn::elab
