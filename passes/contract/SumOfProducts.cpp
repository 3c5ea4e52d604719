#include "passes/contract/SumOfProducts.h"

#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::contract;

/// More are not looked at: the plan looks at all sets of factors.
static constexpr size_t maxFactors = 10;
/// A multiplication and addition inside a matrix product, beside one of an elementwise loop.
static constexpr double productCost = 1.0 / 16;
/// The share of the cost of the plain way that is worth another order.
static constexpr double gain = 0.45;

static bool has(ArrayRef<int> letters, int letter) { return llvm::is_contained(letters, letter); }

static void addAll(SmallVectorImpl<int> &to, ArrayRef<int> letters) {
  for (int letter : letters)
    if (!has(to, letter))
      to.push_back(letter);
}

int SumOfProducts::fresh(int64_t size) {
  sizes.push_back(size);
  return int(sizes.size()) - 1;
}

double SumOfProducts::elements(ArrayRef<int> letters) const {
  double count = 1;
  for (int letter : letters)
    count *= double(sizes[letter]);
  return count;
}

//===----------------------------------------------------------------------===//
// The factors
//===----------------------------------------------------------------------===//

static SmallVector<int> picked(ArrayRef<int> letters, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t d) { return letters[d]; });
}

void SumOfProducts::collect(Value x, Letters letters) {
  Operation *op = x.getDefiningOp();
  if (auto product = dyn_cast_or_null<nd::MulOp>(op)) {
    collect(product.getX(), letters);
    return collect(product.getY(), letters);
  }
  if (auto quotient = dyn_cast_or_null<nd::DivOp>(op))
    if (auto wide = quotient.getY().getDefiningOp<nd::BroadcastOp>()) {
      collect(quotient.getX(), letters);
      factors.push_back({wide.getInput(), picked(letters, wide.getDims()), true});
      return;
    }
  if (auto wide = dyn_cast_or_null<nd::BroadcastOp>(op))
    return collect(wide.getInput(), picked(letters, wide.getDims()));
  if (auto transpose = dyn_cast_or_null<nd::TransposeOp>(op)) {
    Letters before(letters.size());
    for (auto [d, from] : llvm::enumerate(transpose.getPerm()))
      before[from] = letters[d];
    return collect(transpose.getInput(), before);
  }
  if (auto reshape = dyn_cast_or_null<nd::ReshapeOp>(op); reshape && collectReshape(reshape, letters))
    return;
  if (auto choice = dyn_cast_or_null<nd::SelectOp>(op); choice && collectSelect(choice, letters))
    return;
  auto outer = dyn_cast_or_null<nd::ContractOp>(op);
  auto isKept = [&](char c) { return outer.getOut().contains(c); };
  if (outer && llvm::all_of(outer.getLhs(), isKept) && llvm::all_of(outer.getRhs(), isKept)) {
    for (auto [operand, name] : {std::pair(outer.getA(), outer.getLhs()), std::pair(outer.getB(), outer.getRhs())})
      collect(operand, llvm::map_to_vector(name, [&](char c) { return letters[outer.getOut().find(c)]; }));
    return;
  }
  factors.push_back({x, letters});
}

/// Letters of the dimensions `fine`, of which those of `coarse`, lettered, are made in order; nothing if they are not.
std::optional<SumOfProducts::Letters> SumOfProducts::splitLetters(ArrayRef<int64_t> fine, ArrayRef<int64_t> coarse,
                                                                  const Letters &letters) {
  Letters all;
  size_t next = 0;
  for (auto [letter, size] : llvm::zip(letters, coarse)) {
    SmallVector<int64_t> parts;
    int64_t made = 1;
    while (next < fine.size() && made * fine[next] <= size && (made < size || fine[next] == 1)) {
      made *= fine[next];
      parts.push_back(fine[next++]);
    }
    if (made != size)
      return std::nullopt;
    if (parts.size() == 1) {
      all.push_back(letter);
      continue;
    }
    auto found = splits.find(letter);
    if (found == splits.end())
      found = splits.emplace(letter, llvm::map_to_vector(parts, [&](int64_t part) { return fresh(part); })).first;
    auto sameSizes = llvm::map_to_vector(found->second, [&](int part) { return sizes[part]; });
    if (sameSizes != parts)
      return std::nullopt;
    llvm::append_range(all, found->second);
  }
  return next == fine.size() ? std::optional(all) : std::nullopt;
}

bool SumOfProducts::collectReshape(nd::ReshapeOp op, const Letters &letters) {
  auto fine = splitLetters(nd::shapeOf(op.getInput()), nd::shapeOf(op), letters);
  if (fine)
    collect(op.getInput(), *fine);
  return bool(fine);
}

static bool isZero(Value x) {
  DenseElementsAttr numbers;
  return matchPattern(x, m_Constant(&numbers)) && numbers.isSplat() && numbers.getSplatValue<APFloat>().isZero();
}

/// A choice between multiples of one product is that product times a choice of what it is multiplied by; nothing is 0
/// times it.
bool SumOfProducts::collectSelect(nd::SelectOp op, const Letters &letters) {
  auto condition = op.getCondition().getDefiningOp<nd::BroadcastOp>();
  if (!condition)
    return false;
  SmallVector<Factor> outer = std::exchange(factors, {}), common;
  Value zero = nd::splat(builder, loc, RankedTensorType::get({}, factorElement), 0);
  auto factorsOf = [&](Value side, Value other) {
    factors.clear();
    collect(isZero(side) ? other : side, letters);
    if (isZero(side))
      factors.push_back({zero, {}});
    return factors;
  };
  SmallVector<Factor> mine = factorsOf(op.getA(), op.getB()), others = factorsOf(op.getB(), op.getA());
  factors = outer;
  for (auto it = mine.begin(); it != mine.end();) {
    auto same = llvm::find(others, *it);
    if (same == others.end()) {
      ++it;
      continue;
    }
    common.push_back(*it);
    others.erase(same);
    it = mine.erase(it);
  }
  Letters over = picked(letters, condition.getDims());
  for (const Factor &factor : llvm::concat<const Factor>(mine, others))
    addAll(over, factor.letters);
  if (common.empty() || 2 * elements(over) > elements(letters))
    return false;
  Value chosen = spread({condition.getInput(), picked(letters, condition.getDims())}, over);
  Value weight = nd::SelectOp::create(builder, loc, chosen, product(mine, over), product(others, over)).getResult();
  llvm::append_range(factors, common);
  factors.push_back({weight, over});
  return true;
}

/// The factor with the dimensions `over`, among which are its own.
Value SumOfProducts::spread(const Factor &factor, const Letters &over) {
  Letters order;
  for (int letter : over)
    if (has(factor.letters, letter))
      order.push_back(letter);
  Value value = factor.value;
  if (order != factor.letters) {
    auto perm = llvm::map_to_vector(order, [&](int letter) { return int64_t(llvm::find(factor.letters, letter) - factor.letters.begin()); });
    value = nd::TransposeOp::create(builder, loc, value, perm).getResult();
  }
  if (factor.reciprocal)
    value = nd::Ex{&builder, loc, nd::splatLike(builder, value, 1)} / nd::Ex{&builder, loc, value};
  if (order == over)
    return value;
  auto dims = llvm::map_to_vector(order, [&](int letter) { return int64_t(llvm::find(over, letter) - over.begin()); });
  auto shape = llvm::map_to_vector(over, [&](int letter) { return sizes[letter]; });
  return nd::BroadcastOp::create(builder, loc, value, ArrayRef<int64_t>(shape), ArrayRef<int64_t>(dims)).getResult();
}

Value SumOfProducts::product(ArrayRef<Factor> parts, const Letters &over) {
  Value result;
  for (const Factor &part : parts) {
    Value wide = spread(part, over);
    result = result ? nd::MulOp::create(builder, loc, result, wide).getResult() : wide;
  }
  auto shape = llvm::map_to_vector(over, [&](int letter) { return sizes[letter]; });
  Type element = factorElement;
  return result ? result : nd::splat(builder, loc, RankedTensorType::get(shape, element), 1);
}

SumOfProducts::Letters SumOfProducts::resolved(ArrayRef<int> letters) const {
  Letters all;
  for (int letter : letters) {
    auto found = splits.find(letter);
    if (found == splits.end())
      all.push_back(letter);
    else
      llvm::append_range(all, resolved(found->second));
  }
  return all;
}

void SumOfProducts::resolveFactors() {
  for (Factor &factor : factors) {
    Letters fine = resolved(factor.letters);
    if (fine != factor.letters) {
      auto shape = llvm::map_to_vector(fine, [&](int letter) { return sizes[letter]; });
      factor.value = nd::ReshapeOp::create(builder, loc, factor.value, ArrayRef<int64_t>(shape)).getResult();
      factor.letters = fine;
    }
  }
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// Letters that a set of factors still has once those that nobody else needs are summed.
SumOfProducts::Letters SumOfProducts::keptOf(unsigned set, ArrayRef<int> out) const {
  Letters inside, needed(out);
  for (auto [i, factor] : llvm::enumerate(factors))
    addAll(set >> i & 1 ? inside : needed, factor.letters);
  llvm::erase_if(inside, [&](int letter) { return !has(needed, letter); });
  return inside;
}

double SumOfProducts::costOf(ArrayRef<int> a, ArrayRef<int> b, ArrayRef<int> result) const {
  Letters both(a);
  addAll(both, b);
  auto any = [&](auto holds) { return llvm::any_of(both, [&](int letter) { return sizes[letter] > 1 && holds(letter); }); };
  bool isProduct = any([&](int c) { return has(result, c) && !has(b, c); }) &&
                   any([&](int c) { return has(result, c) && !has(a, c); }) &&
                   any([&](int c) { return has(a, c) && has(b, c) && !has(result, c); });
  return elements(both) * (isProduct ? productCost : 1) + elements(result) / 2;
}

/// The cheapest way to contract each set of factors, by the number whose bits they are.
std::vector<SumOfProducts::Step> SumOfProducts::plan(ArrayRef<int> out) const {
  unsigned all = 1u << factors.size();
  std::vector<Step> steps(all);
  std::vector<Letters> kept(all);
  for (unsigned set = 1; set < all; ++set) {
    kept[set] = keptOf(set, out);
    if ((set & (set - 1)) == 0)
      continue;
    steps[set].cost = -1;
    for (unsigned left = (set - 1) & set; left; left = (left - 1) & set) {
      unsigned right = set ^ left;
      if (left < right)
        continue;
      // A single factor brings all its letters: what is its own is summed in this step.
      auto lettersOf = [&](unsigned part) { return (part & (part - 1)) == 0 ? factors[llvm::countr_zero(part)].letters : kept[part]; };
      double cost = steps[left].cost + steps[right].cost + costOf(lettersOf(left), lettersOf(right), kept[set]);
      if (steps[set].cost < 0 || cost < steps[set].cost)
        steps[set] = {left, right, cost};
    }
  }
  return steps;
}

std::string SumOfProducts::names(ArrayRef<int> letters, std::map<int, char> &chars) const {
  std::string text;
  for (int letter : letters)
    text += chars.try_emplace(letter, char('a' + chars.size())).first->second;
  return text;
}

SumOfProducts::Factor SumOfProducts::build(unsigned set, const std::vector<Step> &steps, ArrayRef<int> out) {
  if ((set & (set - 1)) == 0) {
    Factor factor = factors[llvm::countr_zero(set)];
    return {spread(factor, factor.letters), factor.letters};
  }
  Factor a = build(steps[set].left, steps, out), b = build(steps[set].right, steps, out);
  unsigned all = (1u << factors.size()) - 1;
  Letters result = set == all ? Letters(out) : keptOf(set, out);
  std::map<int, char> chars;
  std::string lhs = names(a.letters, chars), rhs = names(b.letters, chars), to = names(result, chars);
  return {nd::ContractOp::create(builder, loc, a.value, b.value, lhs, rhs, to).getResult(), result};
}

Value SumOfProducts::sumOver(Value x, ArrayRef<int64_t> dims) {
  auto type = nd::typeOf(x);
  if (!isa<FloatType>(type.getElementType()) || type.getNumElements() == 0)
    return {};
  factorElement = type.getElementType();
  Letters letters = llvm::map_to_vector(type.getShape(), [&](int64_t size) { return fresh(size); }), kept;
  collect(x, letters);
  for (auto [d, letter] : llvm::enumerate(letters))
    if (!llvm::is_contained(dims, int64_t(d)))
      kept.push_back(letter);
  if (factors.size() < 2 || factors.size() > maxFactors)
    return {};
  resolveFactors();
  Letters out = resolved(kept), present;
  for (const Factor &factor : factors)
    addAll(present, factor.letters);
  // What no factor has is repeated, not summed: that is left to the plain way.
  if (present.size() != resolved(letters).size())
    return {};
  std::vector<Step> steps = plan(out);
  if (steps.back().cost > gain * 2 * elements(letters))
    return {};
  Value sum = build(unsigned(steps.size()) - 1, steps, out).value;
  auto shape = llvm::map_to_vector(kept, [&](int letter) { return sizes[letter]; });
  return nd::shapeOf(sum) == ArrayRef<int64_t>(shape)
             ? sum
             : nd::ReshapeOp::create(builder, loc, sum, ArrayRef<int64_t>(shape)).getResult();
}
