//===- Distributions.cpp - distributions as values ------------------------===//
//
// `normal`, `uniform` and `bernoulli` draw through nd.draw (Draws.cpp). Every
// other distribution is a record of the spec or the library: its field `draw`
// makes values from draws of those three, `event` counts the dimensions of one
// value, the others say what is known of it. What is known of the three is a
// record too, which the library's `normal_facts` … give.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"

using namespace mlir;

namespace dyn::elab {

static const Value *fieldOf(const Record &record, llvm::StringRef name) {
  auto it = llvm::find_if(record.fields, [&](auto &field) { return field.first == name; });
  return it == record.fields.end() ? nullptr : &it->second;
}

bool isDistribution(const Value &value) {
  auto *record = value.as<Record>();
  return value.as<Distribution>() || (record && fieldOf(*record, "draw"));
}

std::string Elaborator::drawSite(Frame &frame) {
  std::string site = frame.site + ":" + (frame.assigning.empty() ? "draw" + std::to_string(frame.draws++) : frame.assigning);
  for (int64_t pass : frame.passes)
    site += "[" + std::to_string(pass) + "]";
  return site;
}

Value Elaborator::drawValue(const Value &dist, ArrayRef<int64_t> shape, Attribute encoding, Span span, Frame &frame) {
  if (auto *own = dist.as<Distribution>())
    return drawFrom(*own, shape, encoding, span, frame);
  if (isDistribution(dist))
    return drawRecord(*dist.as<Record>(), shape, encoding, span, frame);
  if (!dist.isInvalid())
    diags.report(Diag::not_a_distribution, span, describe(dist)).help("`~ normal()` draws; `= …` gives a value");
  return {};
}

/// Calls the record's `draw` on an array with a place for each value. It may give the values in one row: they take the
/// shape that was asked for.
Value Elaborator::drawRecord(const Record &dist, ArrayRef<int64_t> shape, Attribute encoding, Span span, Frame &frame) {
  if (!mayDraw) {
    diags.report(Diag::draw_not_here, span);
    return {};
  }
  int64_t event = 0;
  if (const Value *field = fieldOf(dist, "event")) {
    auto known = knownInt(*field, span, "`event` of a distribution");
    if (!known)
      return {};
    event = *known;
  }
  // `draw(permutation(k))` asks for one value, whatever its shape.
  SmallVector<int64_t> places(shape.drop_back(std::min<int64_t>(event, shape.size())));
  Value like = full(0, RankedTensorType::get(places, realType), false, span);
  if (encoding)
    like = Value(Tensor{create<ir::VaryOp>(span, RankedTensorType::get(places, realType, encoding), like.as<Tensor>()->value), false, 0}, span);
  Frame named{frame.scope, frame.self, drawSite(frame)};
  Value drawn = callValues(*fieldOf(dist, "draw"), {like}, span, named);
  auto t = drawn.isInvalid() ? std::nullopt : tensor(drawn, span, "what a distribution draws");
  if (!t)
    return {};
  int64_t count = 1;
  for (int64_t size : places)
    count *= size;
  bool inRow = !places.empty() && t->type().getRank() > 0 && t->type().getDimSize(0) == count &&
               t->type().getShape().take_front(places.size()) != ArrayRef<int64_t>(places);
  bool lone = places.empty() && t->type().getRank() == event + 1 && t->type().getDimSize(0) == 1;
  if (lone || inRow) {
    SmallVector<int64_t> wanted(places);
    llvm::append_range(wanted, t->type().getShape().drop_front());
    drawn = Value(Tensor{create<nd::ReshapeOp>(span, t->value, ArrayRef<int64_t>(wanted)), t->number, t->classes}, span);
  }
  return drawn;
}

/// A distribution's record; of one of the language's own that which the library has.
Value Elaborator::factsOf(const Value &dist, Span span, Frame &frame) {
  if (dist.as<Record>())
    return dist;
  auto *own = dist.as<Distribution>();
  Value facts = own ? lookupGlobal(own->kind + "_facts", span) : Value();
  return facts.isInvalid() ? Value() : callValues(facts, own->parameters, span, frame);
}

Value Elaborator::callFact(const std::string &name, const std::vector<Value> &values, Span span, Frame &frame) {
  std::vector<Value> facts;
  for (const Value &value : ArrayRef(values).take_front(name == "kl" ? 2 : 1)) {
    if (!isDistribution(value)) {
      diags.report(Diag::needs_distribution, span, name, describe(value));
      return {};
    }
    facts.push_back(factsOf(value, span, frame));
    if (facts.back().isInvalid())
      return {};
  }
  const Record &first = *facts.front().as<Record>();
  const Value *family = fieldOf(first, "family"), *found = fieldOf(first, name);
  const Text *kind = family ? family->as<Text>() : nullptr;
  std::string what = kind ? "the distribution `" + kind->text + "`" : "this distribution";
  if (!found) {
    diags.report(Diag::no_member, span, what, name);
    return {};
  }
  if (name == "kl") {
    const Value *other = fieldOf(*facts.back().as<Record>(), "family");
    const Text *otherKind = other ? other->as<Text>() : nullptr;
    if (!kind || !otherKind || kind->text != otherKind->text) {
      diags.report(Diag::needs_distribution, span, "kl", otherKind ? what + " and `" + otherKind->text + "`" : "distributions without `family`")
          .help("`kl` is known between two of one family");
      return {};
    }
    return callValues(*found, {facts.back()}, span, frame);
  }
  if (name == "log_prob")
    return callValues(*found, {values.back()}, span, frame);
  return *found;
}

} // namespace dyn::elab
