//===- LoopKernels.cpp - a fused loop as a kernel of a device -------------===//
//
// The body is read at one index by the emitter that the host's code uses, with
// one lane; here are the loops around it, over what a thread has to do.
//
//===----------------------------------------------------------------------===//
#include "passes/gpu/DeviceKernels.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/memory/Places.h"

using namespace mlir;
using dyn::kernel::Form;

namespace dyn::gpu {
namespace {

class LoopKernel : private lower::KernelEmitter {
public:
  LoopKernel(ModuleOp module, kernel::FusedOp op, mlir::gpu::GPUModuleOp into, StringRef name, int64_t hostVectorBytes)
      : KernelEmitter(module, op, name, /*vectorBytes=*/1), into(into),
        team{lanesOf(op, hostVectorBytes), int64_t(setsOf(op))} {}

  Mapped emit();

private:
  using Emitted = lower::Emitted;
  using Dim = lower::Dim;

  void start(int64_t threads);
  void emitMap();
  void emitRow();
  void emitTotal();
  void emitFinish();
  /// Calls body on every team.threads()-th element from `from` on.
  void sweep(Emitted from, Emitted to, SmallVectorImpl<Value> &accumulators,
             llvm::function_ref<void(const Dim &, MutableArrayRef<Value>)> body);
  SmallVector<Value> combine(ArrayRef<nd::ReduceOp> reduces, ArrayRef<Value> accumulators);
  void byFirstThread(llvm::function_ref<void()> inside);
  SmallVector<nd::ReduceOp> reduces() { return llvm::to_vector(op.getBody().getOps<nd::ReduceOp>()); }
  kernel::YieldOp yield() { return cast<kernel::YieldOp>(op.getBody().front().getTerminator()); }

  mlir::gpu::GPUModuleOp into;
  Team team;
  Mapped mapped;
  Value thread, block;
};

Mapped LoopKernel::emit() {
  switch (op.getForm()) {
  case Form::map:
    emitMap();
    break;
  case Form::row:
    emitRow();
    break;
  case Form::total:
    emitTotal();
    break;
  }
  mlir::gpu::ReturnOp::create(here(), loc);
  if (op.getForm() == Form::total && mapped.blocks > 1)
    emitFinish();
  return mapped;
}

void LoopKernel::start(int64_t threads) {
  SmallVector<Type> types;
  Type pointer = lower::pointerType(b.getContext());
  for (Value input : op.getInputs())
    types.push_back(memory::isScalar(input) ? lower::elementOf(input) : pointer);
  types.append(op.getNumResults(), pointer);
  mapped.threads = threads;
  mapped.kernel = startKernel(b, loc, into, name, types, threads);
  entry = &mapped.kernel.getBody().front();
  levels.push_back({entry, nullptr, serials++, nullptr});
  for (auto [i, argument] : llvm::enumerate(entry->getArguments()))
    (i < op.getInputs().size() ? inputs : outputs).push_back(argument);
  thread = threadNumber(here(), loc);
  block = blockNumber(here(), loc);
}

void LoopKernel::emitMap() {
  start(mapThreads);
  int64_t count = ShapedType::getNumElements(op.getDomain());
  mapped.blocks = mapBlocks(count);
  Emitted first = add(multiply({block, 0}, mapThreads), {thread, 0});
  auto loop = openLoop(first, constant(count), mapped.blocks * mapThreads, {});
  Emitted element{loop.getInductionVar(), depth()};
  if (flat || count == 0) {
    storeOutputs(Dim{element, 0, nullptr});
  } else {
    Value width = constant(op.getDomain().back()).value;
    enterRow({arith::DivUIOp::create(here(), loc, element.value, width), depth()});
    storeOutputs(Dim{{arith::RemUIOp::create(here(), loc, element.value, width), depth()}, 0, nullptr});
  }
  closeLoop(loop, {});
}

void LoopKernel::sweep(Emitted from, Emitted to, SmallVectorImpl<Value> &accumulators,
                       llvm::function_ref<void(const Dim &, MutableArrayRef<Value>)> body) {
  auto loop = openLoop(add(from, {thread, 0}), to, team.threads(), accumulators);
  SmallVector<Value> inner(loop.getRegionIterArgs());
  body(Dim{{loop.getInductionVar(), depth()}, 0, nullptr}, inner);
  closeLoop(loop, inner);
  accumulators.assign(loop.getResults().begin(), loop.getResults().end());
}

SmallVector<Value> LoopKernel::combine(ArrayRef<nd::ReduceOp> all, ArrayRef<Value> accumulators) {
  SmallVector<Value> results;
  for (auto [reduce, value] : llvm::zip(all, accumulators)) {
    nd::ReduceOp one = reduce;
    results.push_back(reduceTeam(here(), loc, mapped.kernel, thread, team, one.getKind(), value));
  }
  return results;
}

void LoopKernel::byFirstThread(llvm::function_ref<void()> inside) {
  Value zero = lower::i64Constant(here(), loc, 0);
  Value first = arith::CmpIOp::create(here(), loc, arith::CmpIPredicate::eq, thread, zero);
  branch(first, {}, [&]() -> SmallVector<Value> {
    inside();
    return {};
  });
}

void LoopKernel::emitRow() {
  start(team.threads());
  int64_t width = op.getDomain().back();
  mapped.blocks = ShapedType::getNumElements(op.getDomain().drop_back());
  enterRow({block, 0});
  for (ArrayRef<nd::ReduceOp> list : generations()) {
    SmallVector<Value> accumulators = startAccumulators(list, 1);
    sweep({}, constant(width), accumulators,
          [&](const Dim &dim, MutableArrayRef<Value> set) { accumulate(list, dim, set); });
    for (auto [reduce, result] : llvm::zip(list, combine(list, accumulators)))
      computed[nd::ReduceOp(reduce).getResult()] = {result, 0};
  }
  // Scalars of the row are read before anything is written, by all threads: outputs may lie on inputs.
  SmallVector<std::pair<unsigned, Value>> scalars;
  bool whole = false;
  for (auto [i, value] : llvm::enumerate(yield().getValues())) {
    if (nd::shapeOf(value) == op.getDomain())
      whole = true;
    else
      scalars.push_back({unsigned(i), KernelEmitter::emit(value, rowDims).value});
  }
  mlir::gpu::BarrierOp::create(here(), loc);
  SmallVector<Value> none;
  if (whole)
    sweep({}, constant(width), none, [&](const Dim &dim, MutableArrayRef<Value>) { storeOutputs(dim); });
  byFirstThread([&] {
    for (auto [i, value] : scalars)
      lower::storeElement(here(), loc, value,
                          lower::elementPointer(here(), loc, outputs[i], value.getType(), rowNumber.value));
  });
}

/// What the host does with a block of the reduction, done by a block of threads.
void LoopKernel::emitTotal() {
  start(team.threads());
  memory::TotalShape shape = memory::totalShapeOf(op);
  mapped.blocks = shape.blocks;
  SmallVector<nd::ReduceOp> all = reduces();
  SmallVector<Value> accumulators = startAccumulators(all, 1);
  auto piece = [&](const Dim &dim, MutableArrayRef<Value> set) {
    accumulate(all, dim, set);
    storeOutputs(dim);
  };
  Emitted first = multiply({block, 0}, shape.blockItems), end = add(first, constant(shape.blockItems));
  end.value = arith::MinSIOp::create(here(), loc, end.value, lower::i64Constant(here(), loc, shape.items));
  if (flat) {
    sweep(first, end, accumulators, piece);
  } else {
    auto loop = openLoop(first, end, 1, accumulators);
    SmallVector<Value> inner(loop.getRegionIterArgs());
    enterRow({loop.getInductionVar(), depth()});
    sweep({}, constant(op.getDomain().back()), inner, piece);
    closeLoop(loop, inner);
    accumulators.assign(loop.getResults().begin(), loop.getResults().end());
  }
  SmallVector<Value> results = combine(all, accumulators);
  byFirstThread([&] {
    for (auto [i, value] : llvm::enumerate(yield().getValues()))
      for (auto [reduce, result] : llvm::zip(all, results))
        if (value == nd::ReduceOp(reduce).getResult())
          lower::storeElement(here(), loc, result,
                              lower::elementPointer(here(), loc, outputs[i], result.getType(), block));
  });
}

/// Results of blocks, in the order of the blocks; sums of f32 in f64.
void LoopKernel::emitFinish() {
  SmallVector<nd::ReduceOp> made;
  for (Value value : yield().getValues())
    if (memory::isScalar(value))
      made.push_back(value.getDefiningOp<nd::ReduceOp>());
  SmallVector<Type> types(made.size(), lower::pointerType(b.getContext()));
  mapped.finish = startKernel(b, loc, into, name + "_finish", types, 1);
  auto number = [&](int64_t value) { return lower::i64Constant(b, loc, value); };
  for (auto [reduce, place] : llvm::zip(made, mapped.finish.getArguments())) {
    nd::ReduceKind kind = nd::ReduceOp(reduce).getKind();
    Value base = place;
    Type element = lower::elementOf(nd::ReduceOp(reduce).getResult());
    bool widen = element.isF32() && kind == nd::ReduceKind::sum;
    Type type = widen ? b.getF64Type() : element;
    Value identity = lower::reduceIdentity(b, loc, kind, type);
    auto loop = scf::ForOp::create(
        b, loc, number(0), number(mapped.blocks), number(1), ValueRange{identity},
        [&](OpBuilder &inside, Location, Value i, ValueRange sum) {
          Value x = lower::loadElement(inside, loc, lower::elementPointer(inside, loc, base, element, i), element);
          if (widen)
            x = arith::ExtFOp::create(inside, loc, type, x);
          scf::YieldOp::create(inside, loc, lower::reduceStep(inside, loc, kind, sum[0], x));
        });
    Value total = loop.getResult(0);
    if (widen)
      total = arith::TruncFOp::create(b, loc, element, total);
    lower::storeElement(b, loc, total, base);
  }
  mlir::gpu::ReturnOp::create(b, loc);
}

} // namespace

Mapped mapLoop(ModuleOp module, kernel::FusedOp op, mlir::gpu::GPUModuleOp into, StringRef name,
               int64_t hostVectorBytes) {
  return LoopKernel(module, op, into, name, hostVectorBytes).emit();
}

} // namespace dyn::gpu
