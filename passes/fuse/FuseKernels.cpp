//===- FuseKernels.cpp - array ops become few loops -----------------------===//
//
// Clusters.cpp decides which ops share a loop. Here each cluster is written as
// one kernel.fused, the block is put in an order in which every kernel stands
// after what it reads, and kernels that can run as the tail of a product are
// marked. Afterwards plan-memory sees straight-line code over whole arrays.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/Clusters.h"
#include "passes/fuse/EffectOrder.h"
#include "passes/fuse/Passes.h"

#include "dialects/Run/RunOps.h"

#include "mlir/IR/IRMapping.h"

#include <queue>

namespace dyn::fuse {
#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/fuse/Passes.h.inc"
} // namespace dyn::fuse

using namespace mlir;
using dyn::kernel::Form;

namespace dyn::fuse {
namespace {

/// Clones what `value` needs from transparent ops into the body; what is left becomes an input.
class BodyBuilder {
public:
  BodyBuilder(const Clusters &clusters, const Cluster &cluster, kernel::FusedOp fused)
      : clusters(clusters), members(cluster.ops.begin(), cluster.ops.end()), fused(fused),
        builder(OpBuilder::atBlockEnd(&fused.getBody().front())) {}

  void clone(Operation *op) {
    for (Value operand : op->getOperands())
      map(operand);
    builder.clone(*op, mapping);
  }
  Value lookup(Value value) { return mapping.lookup(value); }
  ArrayRef<Value> inputs() const { return operands; }
  OpBuilder &getBuilder() { return builder; }

private:
  void map(Value value) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    bool scalarConstant = isa_and_nonnull<nd::ConstantOp>(op) && cast<RankedTensorType>(value.getType()).getRank() == 0;
    if (op && (scalarConstant || (clusters.roleOf(op) == Role::transparent)))
      return clone(op);
    operands.push_back(value);
    mapping.map(value, fused.getBody().addArgument(value.getType(), value.getLoc()));
  }

  const Clusters &clusters;
  llvm::SmallPtrSet<Operation *, 16> members;
  kernel::FusedOp fused;
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<Value> operands;
};

/// Results of the cluster that something outside reads.
SmallVector<Value> outputsOf(const Clusters &clusters, const Cluster &cluster) {
  SmallVector<Value> outputs;
  for (Operation *op : cluster.ops) {
    Value result = op->getResult(0);
    bool outside = llvm::any_of(result.getUsers(), [&](Operation *user) {
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      return clusters.clusterOf(here) != &cluster;
    });
    if (outside)
      outputs.push_back(result);
  }
  return outputs;
}

/// A transparent value inside a cluster counts as its own when only members read it: its reader then is inside.
bool readOutside(const Clusters &clusters, const Cluster &cluster, Value value) {
  for (Operation *user : value.getUsers()) {
    Operation *here = value.getDefiningOp()->getBlock()->findAncestorOpInBlock(*user);
    if (clusters.roleOf(here) == Role::transparent) {
      if (readOutside(clusters, cluster, here->getResult(0)))
        return true;
    } else if (clusters.clusterOf(here) != &cluster) {
      return true;
    }
  }
  return false;
}

/// Writes one cluster as kernel.fused before its last op.
kernel::FusedOp build(const Clusters &clusters, const Cluster &cluster) {
  OpBuilder builder(cluster.ops.back());
  SmallVector<Value> outputs;
  for (Value value : outputsOf(clusters, cluster))
    if (readOutside(clusters, cluster, value))
      outputs.push_back(value);
  auto types = llvm::map_to_vector(outputs, [](Value v) { return v.getType(); });
  OperationState state(cluster.ops.back()->getLoc(), kernel::FusedOp::getOperationName());
  state.addTypes(types);
  state.addRegion()->emplaceBlock();
  kernel::FusedOp::Properties &properties = state.getOrAddProperties<kernel::FusedOp::Properties>();
  properties.form = kernel::FormAttr::get(builder.getContext(), cluster.form);
  properties.domain = builder.getDenseI64ArrayAttr(cluster.domain);
  auto fused = cast<kernel::FusedOp>(builder.create(state));
  BodyBuilder body(clusters, cluster, fused);
  for (Operation *op : cluster.ops)
    body.clone(op);
  auto yielded = llvm::map_to_vector(outputs, [&](Value v) { return body.lookup(v); });
  kernel::YieldOp::create(body.getBuilder(), fused.getLoc(), yielded);
  fused->setOperands(body.inputs());
  for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
    output.replaceUsesWithIf(result, [&](OpOperand &use) {
      Operation *here = fused->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return clusters.clusterOf(here) != &cluster;
    });
  return fused;
}

/// An order in which every op stands after what it reads and effects keep theirs; guards as early as they can, so
/// that what follows may be written in place.
class Order {
public:
  explicit Order(Block &block) : block(block) {
    for (Operation &op : block.without_terminator()) {
      index[&op] = ops.size();
      ops.push_back(&op);
    }
    next.resize(ops.size());
    missing.resize(ops.size());
    addValueEdges();
    addEffectEdges();
  }

  void apply() {
    auto later = [&](int a, int b) { return key(a) > key(b); };
    std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
    for (size_t i = 0; i < ops.size(); ++i)
      if (!missing[i])
        ready.push(i);
    Operation *end = block.mightHaveTerminator() ? block.getTerminator() : nullptr;
    while (!ready.empty()) {
      int at = ready.top();
      ready.pop();
      if (end)
        ops[at]->moveBefore(end);
      else
        ops[at]->moveBefore(&block, block.end());
      for (int follower : next[at])
        if (--missing[follower] == 0)
          ready.push(follower);
    }
  }

private:
  std::pair<int, int> key(int i) const { return {isa<run::GuardOp>(ops[i]) ? 0 : 1, i}; }
  void edge(int from, int to) {
    next[from].push_back(to);
    ++missing[to];
  }
  void addValueEdges() {
    for (Operation *op : ops)
      for (Operation *user : op->getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user); here && index.contains(here))
          edge(index[op], index[here]);
  }
  /// Kernels were joined by these edges and no others (Clusters::forEachDependent).
  void addEffectEdges() {
    EffectOrder effects(block);
    for (Operation *op : ops)
      for (Operation *follower : effects.followersOf(op))
        edge(index[op], index[follower]);
  }

  Block &block;
  std::vector<Operation *> ops;
  llvm::DenseMap<Operation *, int> index;
  std::vector<SmallVector<int, 4>> next;
  std::vector<int> missing;
};

/// Whether the rows of `fused` can run as rows of `product` become final: it reads the product's value only at its
/// own row.
bool runsByRows(kernel::FusedOp fused, kernel::ProductOp product) {
  Value value = product;
  auto window = kernel::windowOf(product);
  bool stack = window && window->role == plan::WindowRole::reads;
  if (fused.getForm() == Form::total || fused.getDomain().size() != (stack ? 3 : 2) || (window && !stack))
    return false;
  if (cast<RankedTensorType>(value.getType()).getShape() != fused.getDomain())
    return false;
  for (auto [input, argument] : llvm::zip(fused.getInputs(), fused.getBody().getArguments())) {
    if (input != value)
      continue;
    for (Operation *user : argument.getUsers()) {
      auto reduce = dyn_cast<nd::ReduceOp>(user);
      bool row = reduce && fused.getForm() == Form::row;
      if (!row && !user->hasTrait<Elementwise>())
        return false;
    }
  }
  return true;
}

/// Marks kernels that follow a product, and moves the product to just before its kernel.
void markEpilogues(Block &block) {
  for (Operation &op : block) {
    auto fused = dyn_cast<kernel::FusedOp>(op);
    if (!fused)
      continue;
    kernel::ProductOp last;
    for (Value input : fused.getInputs()) {
      auto product = input.getDefiningOp<kernel::ProductOp>();
      if (product && product->getBlock() == &block && (!last || last->isBeforeInBlock(product)) &&
          runsByRows(fused, product))
        last = product;
    }
    if (!last)
      continue;
    bool first = llvm::all_of(last->getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here && (here == fused || fused->isBeforeInBlock(here));
    });
    if (!first)
      continue;
    last->moveBefore(fused);
    fused.setEpilogue(true);
  }
}

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Gives a region its own copies of the outside constants and positions that it uses: they cost nothing there.
void sinkSources(Block &block) {
  IRMapping copies;
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (Operation &op : block) {
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (!source || source->getBlock() == &block || !(isSplat(source) || isa<nd::IotaOp>(source)))
        continue;
      if (!copies.contains(operand.get()))
        copies.map(operand.get(), builder.clone(*source)->getResult(0));
      operand.set(copies.lookup(operand.get()));
    }
  }
}

int64_t fuseBlock(Block &block) {
  int64_t made = 0;
  for (Operation &op : block)
    if (!isa<kernel::FusedOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          sinkSources(inner);
          made += fuseBlock(inner);
        }
  eraseDead(block);
  Clusters clusters(block);
  SmallVector<const Cluster *> list = clusters.list();
  for (const Cluster *cluster : list)
    build(clusters, *cluster);
  made += list.size();
  // Roots are dead now, their readers having been cloned: last first.
  SmallVector<Operation *> old;
  for (Operation &op : block)
    if (clusters.roleOf(&op) != Role::other)
      old.push_back(&op);
  for (Operation *op : llvm::reverse(old)) {
    if (clusters.roleOf(op) == Role::root || op->use_empty()) {
      op->dropAllUses();
      op->erase();
    }
  }
  Order(block).apply();
  markEpilogues(block);
  eraseDead(block);
  return made;
}

struct FuseKernels : impl::FuseKernelsPassBase<FuseKernels> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      numKernels += fuseBlock(block);
  }
};

} // namespace
} // namespace dyn::fuse
