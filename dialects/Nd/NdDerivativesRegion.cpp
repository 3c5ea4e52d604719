// Derivatives of scan, while and cond.
#include "dialects/Nd/NdDerivativesInternals.h"
#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

StringRef ScanOp::notDifferentiableReason() { return {}; }
StringRef WhileOp::notDifferentiableReason() { return {}; }
StringRef CondOp::notDifferentiableReason() { return {}; }

/// Clones the ops of a region's block (its arguments are in `mapping`); gives what it yields.
static SmallVector<Value> cloneBody(OpBuilder &builder, Region &region, IRMapping &mapping) {
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace {
/// What varies in a scan when some of its inputs do.
struct ScanActivity {
  SmallVector<bool> carries; ///< carried values that come to depend on varying inputs
  SmallVector<bool> stacks;  ///< stacked results that do

  /// `varying`: one an input. A carry that depends on a varying carry varies: repeated until nothing changes.
  ScanActivity(ScanOp op, ArrayRef<Value> inputs, ArrayRef<bool> varying) {
    size_t count = op.getInits().size(), rows = op.getXs().size();
    carries.assign(varying.begin(), varying.begin() + count);
    SmallVector<Value> outputs(op.getYield()->getOperands());
    for (bool changed = true; changed;) {
      SmallVector<Value> from;
      for (auto [argument, varies] : llvm::zip(op.getCarryArgs(), carries))
        if (varies)
          from.push_back(argument);
      for (auto [argument, varies] : llvm::zip(op.getRowArgs(), varying.slice(count, rows)))
        if (varies)
          from.push_back(argument);
      for (auto [capture, varies] : llvm::zip(inputs.drop_front(count + rows), varying.drop_front(count + rows)))
        if (varies)
          from.push_back(capture);
      SmallVector<bool> depends = dependsOn(outputs, from);
      changed = false;
      for (size_t c = 0; c < count; ++c)
        if (depends[c] && !carries[c])
          changed = carries[c] = true;
      stacks.assign(depends.begin() + count, depends.end());
    }
  }
};

/// The scan with the carried values before each pass stacked after its results. It takes the old one's place.
ScanOp saveCarries(ScanOp op) {
  OpBuilder builder(op);
  auto saving = ScanOp::create(
      builder, op.getLoc(), op.getInits(), op.getXs(), op.getTrip(), op.getReverse(),
      [&](OpBuilder &b, Location, Value i, ValueRange carries, ValueRange rows) {
        IRMapping mapping;
        mapping.map(op.getIndexArg(), i);
        mapping.map(op.getCarryArgs(), carries);
        mapping.map(op.getRowArgs(), rows);
        SmallVector<Value> yields = cloneBody(b, op.getBody(), mapping);
        llvm::append_range(yields, carries);
        return yields;
      });
  op->replaceAllUsesWith(saving->getResults().take_front(op->getNumResults()));
  return saving;
}

/// The reverse pass of a scan: which values it carries and which it stacks.
class ScanReverse {
public:
  ScanReverse(ScanOp op, ArrayRef<Value> cotangents, const VjpRequest &request)
      : op(op), request(request), inputs(getInputs(op)), activity(op, inputs, request.needed),
        count(op.getInits().size()), rows(op.getXs().size()), cotangents(cotangents) {}

  LogicalResult build(OpBuilder &builder, SmallVectorImpl<Value> &results) {
    ScanOp saving = saveCarries(op);
    SmallVector<Value> inits, xs;
    for (size_t c = 0; c < count; ++c)
      if (activity.carries[c])
        inits.push_back(cotangents[c] ? cotangents[c] : zerosOf(builder, op.getInits()[c]));
    for (size_t i = count + rows; i < inputs.size(); ++i)
      if (request.needed[i])
        inits.push_back(zerosOf(builder, inputs[i]));
    llvm::append_range(xs, saving.getResults().drop_front(op->getNumResults()));
    llvm::append_range(xs, op.getXs());
    for (size_t s = 0; s < activity.stacks.size(); ++s)
      if (activity.stacks[s] && cotangents[count + s])
        xs.push_back(cotangents[count + s]);
    bool fine = true;
    auto back = ScanOp::create(builder, op.getLoc(), inits, xs, op.getTrip(), !op.getReverse(),
                               [&](OpBuilder &b, Location, Value i, ValueRange carries, ValueRange given) {
                                 return body(b, i, carries, given, fine);
                               });
    distribute(back, results);
    return success(fine);
  }

private:
  SmallVector<Value> body(OpBuilder &builder, Value i, ValueRange carries, ValueRange given, bool &fine) {
    IRMapping mapping;
    mapping.map(op.getIndexArg(), i);
    mapping.map(op.getCarryArgs(), given.take_front(count));
    mapping.map(op.getRowArgs(), given.slice(count, rows));
    SmallVector<Value> yields = cloneBody(builder, op.getBody(), mapping), outputs, seeds, wrt;
    size_t carry = 0, stack = count + rows;
    for (size_t c = 0; c < count; ++c)
      if (activity.carries[c]) {
        outputs.push_back(yields[c]);
        seeds.push_back(carries[carry++]);
        wrt.push_back(given[c]);
      }
    for (size_t s = 0; s < activity.stacks.size(); ++s)
      if (activity.stacks[s] && cotangents[count + s]) {
        outputs.push_back(yields[count + s]);
        seeds.push_back(given[stack++]);
      }
    for (size_t x = count; x < inputs.size(); ++x)
      if (request.needed[x])
        wrt.push_back(x < count + rows ? given[x] : inputs[x]);
    SmallVector<Value> gradients;
    if (failed(reverseSweep(builder, outputs, seeds, wrt, request.masked, request.refuse, gradients))) {
      fine = false;
      gradients.assign(wrt.size(), Value());
    }
    return order(builder, carries, wrt, gradients);
  }

  /// Gradients in the order of the reverse scan's results: carries, sums for captures, then stacks for rows.
  SmallVector<Value> order(OpBuilder &builder, ValueRange carries, ArrayRef<Value> wrt, ArrayRef<Value> gradients) {
    size_t active = llvm::count(activity.carries, true), needed = 0;
    for (size_t x = count; x < count + rows; ++x)
      needed += request.needed[x];
    SmallVector<Value> next, stacks;
    for (size_t k = 0; k < wrt.size(); ++k) {
      Value gradient = gradients[k];
      if (k >= active + needed) { // a capture: summed over passes
        Value sum = carries[k - needed];
        next.push_back(gradient ? Value(AddOp::create(builder, op.getLoc(), sum, gradient)) : sum);
        continue;
      }
      if (!gradient)
        gradient = zerosOf(builder, wrt[k]);
      (k < active ? next : stacks).push_back(gradient);
    }
    llvm::append_range(next, stacks);
    return next;
  }

  void distribute(ScanOp back, SmallVectorImpl<Value> &results) {
    results.assign(inputs.size(), Value());
    unsigned next = 0;
    for (size_t c = 0; c < count; ++c)
      if (activity.carries[c])
        results[c] = back.getResult(next++);
    for (size_t x = count + rows; x < inputs.size(); ++x)
      if (request.needed[x])
        results[x] = back.getResult(next++);
    for (size_t x = count; x < count + rows; ++x)
      if (request.needed[x])
        results[x] = back.getResult(next++);
  }

  ScanOp op;
  const VjpRequest &request;
  SmallVector<Value> inputs;
  ScanActivity activity;
  size_t count, rows;
  ArrayRef<Value> cotangents;
};
} // namespace

LogicalResult ScanOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                               SmallVectorImpl<Value> &results) {
  return ScanReverse(*this, cotangents, request).build(builder, results);
}

LogicalResult ScanOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  SmallVector<Value> inputs = getInputs(*this), inits(getInits()), xs(getXs());
  SmallVector<bool> varying = llvm::map_to_vector(tangents, [](Value value) { return bool(value); });
  ScanActivity activity(*this, inputs, varying);
  size_t count = inits.size(), rows = xs.size();
  for (size_t c = 0; c < count; ++c)
    if (activity.carries[c])
      inits.push_back(tangents[c] ? tangents[c] : zerosOf(builder, inputs[c]));
  for (size_t x = count; x < count + rows; ++x)
    if (tangents[x])
      xs.push_back(tangents[x]);
  bool fine = true;
  auto both = ScanOp::create(
      builder, getLoc(), inits, xs, getTrip(), getReverse(),
      [&](OpBuilder &b, Location, Value i, ValueRange carries, ValueRange given) {
        IRMapping mapping;
        mapping.map(getIndexArg(), i);
        mapping.map(getCarryArgs(), carries.take_front(count));
        mapping.map(getRowArgs(), given.take_front(rows));
        SmallVector<Value> yields = cloneBody(b, getBody(), mapping), wrt, seeds, moved;
        auto add = [&](Value value, Value tangent) {
          wrt.push_back(value);
          seeds.push_back(tangent);
        };
        size_t carry = count, row = rows;
        for (size_t c = 0; c < count; ++c)
          if (activity.carries[c])
            add(carries[c], carries[carry++]);
        for (size_t x = count; x < count + rows; ++x)
          if (tangents[x])
            add(given[x - count], given[row++]);
        // Also those that do not move: they end the sweep, which would go on outside the loop.
        for (size_t x = count + rows; x < inputs.size(); ++x)
          add(inputs[x], tangents[x]);
        fine = succeeded(forwardSweep(b, yields, wrt, seeds, [](Operation *, const Twine &) {}, moved));
        moved.resize(yields.size());
        auto tangentOf = [&](size_t y) { return moved[y] ? moved[y] : zerosOf(b, yields[y]); };
        SmallVector<Value> next(yields.begin(), yields.begin() + count);
        for (size_t c = 0; c < count; ++c)
          if (activity.carries[c])
            next.push_back(tangentOf(c));
        next.append(yields.begin() + count, yields.end());
        for (size_t s = 0; s < activity.stacks.size(); ++s)
          if (activity.stacks[s])
            next.push_back(tangentOf(count + s));
        return next;
      });
  results.assign(getNumResults(), Value());
  unsigned carry = count, stack = both.getInits().size() + activity.stacks.size();
  for (size_t c = 0; c < count; ++c)
    if (activity.carries[c])
      results[c] = both.getResult(carry++);
  for (size_t s = 0; s < activity.stacks.size(); ++s)
    if (activity.stacks[s])
      results[count + s] = both.getResult(stack++);
  return success(fine);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// The same loop as a scan of `limit` passes that does nothing once the condition is false. Its results are the
/// carried values, then whether the loop still goes on.
static ScanOp asScan(OpBuilder &builder, WhileOp op) {
  auto ask = [&](OpBuilder &b, ValueRange carried) {
    IRMapping mapping;
    mapping.map(op.getCondition().getArguments(), carried);
    return cloneBody(b, op.getCondition(), mapping)[0];
  };
  return ScanOp::create(
      builder, op.getLoc(), op.getInits(), ValueRange(), op.getLimit(), /*reverse=*/false,
      [&](OpBuilder &b, Location loc, Value, ValueRange carries, ValueRange) {
        auto step = CondOp::create(
            b, loc, ask(b, carries),
            [&](OpBuilder &b, Location) {
              IRMapping mapping;
              mapping.map(op.getBody().getArguments(), carries);
              return cloneBody(b, op.getBody(), mapping);
            },
            [&](OpBuilder &, Location) { return SmallVector<Value>(carries); });
        return SmallVector<Value>(step.getResults());
      });
}

/// For each input of `to`, the entry of `entries` for the same input of `from`.
template <typename T>
static SmallVector<T> byInput(Operation *to, Operation *from, ArrayRef<T> entries) {
  llvm::DenseMap<Value, T> captures;
  SmallVector<Value> source = getInputs(from);
  size_t operands = from->getNumOperands();
  for (size_t i = operands; i < source.size(); ++i)
    captures[source[i]] = entries[i];
  SmallVector<T> result(entries.begin(), entries.begin() + operands);
  SmallVector<Value> target = getInputs(to);
  for (Value capture : ArrayRef(target).drop_front(operands))
    result.push_back(captures.lookup(capture));
  return result;
}

LogicalResult WhileOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                SmallVectorImpl<Value> &results) {
  ScanOp scan = asScan(builder, *this);
  SmallVector<bool> needed = byInput<bool>(scan, *this, request.needed);
  SmallVector<Value> given;
  if (failed(scan.buildVjp(builder, cotangents.drop_back(), {needed, request.masked, request.refuse}, given)))
    return failure();
  results = byInput<Value>(*this, scan, given);
  return success();
}

LogicalResult WhileOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  ScanOp scan = asScan(builder, *this);
  if (failed(scan.buildJvp(builder, byInput<Value>(scan, *this, tangents), results)))
    return failure();
  results.push_back(Value());
  return success();
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

// The side taken is computed again with its derivative; the other side is not touched.
LogicalResult CondOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                               SmallVectorImpl<Value> &results) {
  SmallVector<Value> inputs = getInputs(*this), wrt;
  for (auto [input, needed] : llvm::zip(inputs, request.needed))
    if (needed)
      wrt.push_back(input);
  bool fine = true;
  auto side = [&](Region &region) {
    return [&](OpBuilder &b, Location) {
      IRMapping mapping;
      SmallVector<Value> outputs = cloneBody(b, region, mapping), gradients;
      fine &= succeeded(reverseSweep(b, outputs, cotangents, wrt, request.masked, request.refuse, gradients));
      gradients.resize(wrt.size());
      for (auto [gradient, value] : llvm::zip(gradients, wrt))
        if (!gradient)
          gradient = zerosOf(b, value);
      return gradients;
    };
  };
  auto back = CondOp::create(builder, getLoc(), getCondition(), side(getThenRegion()), side(getElseRegion()));
  unsigned next = 0;
  for (bool needed : request.needed)
    results.push_back(needed ? back.getResult(next++) : Value());
  return success(fine);
}

LogicalResult CondOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  SmallVector<Value> inputs = getInputs(*this);
  bool fine = true;
  auto side = [&](Region &region) {
    return [&](OpBuilder &b, Location) {
      IRMapping mapping;
      SmallVector<Value> outputs = cloneBody(b, region, mapping), moved;
      fine &= succeeded(forwardSweep(b, outputs, inputs, tangents, [](Operation *, const Twine &) {}, moved));
      moved.resize(outputs.size());
      SmallVector<Value> kept;
      for (auto [tangent, output] : llvm::zip(moved, outputs))
        if (hasDerivative(output.getType()))
          kept.push_back(tangent ? tangent : zerosOf(b, output));
      return kept;
    };
  };
  auto both = CondOp::create(builder, getLoc(), getCondition(), side(getThenRegion()), side(getElseRegion()));
  unsigned next = 0;
  for (Value result : getResults())
    results.push_back(hasDerivative(result.getType()) ? both.getResult(next++) : Value());
  return success(fine);
}
