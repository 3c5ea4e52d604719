//===- Clusters.cpp - which array ops share a loop ------------------------===//
#include "passes/fuse/Clusters.h"

#include "dialects/Nd/NdWindow.h"
#include "dialects/Run/RunOps.h"

using namespace mlir;
using dyn::kernel::Form;

namespace dyn::fuse {

using nd::shapeOf;

/// A scalar as an array of one element: there is no memory to look at.
static bool isScalarAsArray(Operation *op) {
  return isa<nd::ReshapeOp>(op) && shapeOf(op->getOperand(0)).empty() && !shapeOf(op->getResult(0)).empty();
}

bool isView(Operation *op) {
  if (isa<nd::ReshapeOp, nd::StopGradientOp>(op))
    return !isScalarAsArray(op);
  auto slice = dyn_cast<nd::SliceOp>(op);
  if (!slice)
    return false;
  // Contiguous: beyond the first dimension that is more than one wide, all are whole.
  bool whole = false;
  ArrayRef<int64_t> shape = shapeOf(slice.getInput());
  for (auto [i, size] : llvm::enumerate(slice.getSizes())) {
    if (whole ? size != shape[i] : (size > 1 && slice.getStrides()[i] != 1))
      return false;
    whole |= size > 1;
  }
  return true;
}

bool isSplat(Operation *op) {
  auto constant = dyn_cast<nd::ConstantOp>(op);
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

/// The shape of what a root's loop reads: for a reduction more than what it gives.
static ArrayRef<int64_t> inputShape(Operation *op) {
  if (auto reduce = dyn_cast<nd::ReduceOp>(op))
    return shapeOf(reduce.getInput());
  return shapeOf(op->getResult(0));
}

static bool isColumnReduce(Operation *op) {
  auto reduce = dyn_cast<nd::ReduceOp>(op);
  if (!reduce)
    return false;
  int64_t rank = shapeOf(reduce.getInput()).size();
  bool total = int64_t(reduce.getDims().size()) == rank;
  bool row = reduce.getDims().size() == 1 && reduce.getDims()[0] == rank - 1;
  return !total && !row;
}

Clusters::Clusters(Block &block) : block(block), effects(block) {
  classify();
  join();
  joinSiblings();
}

void Clusters::classify() {
  int at = 0;
  for (Operation &op : block) {
    position[&op] = at++;
    Role role = Role::other;
    bool array = op.getNumResults() == 1 && !shapeOf(op.getResult(0)).empty();
    if (isa<nd::ReduceOp>(op))
      role = Role::root;
    else if (!array || isView(&op))
      role = Role::other;
    else if (op.hasTrait<Elementwise>() || isa<nd::GatherOp, nd::PadOp>(op))
      role = Role::root;
    else if (isa<nd::BroadcastOp, nd::TransposeOp, nd::SliceOp, nd::IotaOp, nd::WindowOp>(op) || isSplat(&op) || isScalarAsArray(&op))
      role = Role::transparent;
    roles[&op] = role;
  }
  // Needed as an array: by an op that is no loop of ours, or inside a region.
  for (Operation &op : llvm::reverse(block)) {
    if (roles[&op] != Role::transparent)
      continue;
    for (Operation *user : op.getUsers())
      if (user->getBlock() != &block || roles[user] == Role::other)
        // A concat stores scalars itself.
        if (!isScalarAsArray(&op) || !isa<nd::ConcatOp>(user))
          roles[&op] = Role::root;
  }
  for (Operation &op : block)
    if (roles[&op] == Role::root)
      start(&op);
}

void Clusters::start(Operation *op) {
  Cluster cluster;
  cluster.ops.push_back(op);
  cluster.domain.assign(shapeOf(op->getResult(0)));
  if (auto reduce = dyn_cast<nd::ReduceOp>(op); reduce && !isColumnReduce(op)) {
    cluster.domain.assign(inputShape(op));
    cluster.form = shapeOf(reduce).empty() ? Form::total : Form::row;
  }
  clusterIndex[op] = clusters.size();
  clusters.push_back(std::move(cluster));
}

int Clusters::find(Operation *op) const {
  auto found = clusterIndex.find(op);
  return found == clusterIndex.end() ? -1 : found->second;
}

const Cluster *Clusters::clusterOf(Operation *op) const {
  int index = find(op);
  return index < 0 ? nullptr : &clusters[index];
}

SmallVector<const Cluster *> Clusters::list() const {
  SmallVector<const Cluster *> result;
  for (const Cluster &cluster : clusters)
    if (!cluster.ops.empty())
      result.push_back(&cluster);
  return result;
}

/// Where an op that is made at an index reads its operands.
Clusters::Access Clusters::accessOf(Operation *op) {
  if (op->hasTrait<Elementwise>() || isa<nd::ReduceOp>(op))
    return Access::same;
  auto broadcast = dyn_cast<nd::BroadcastOp>(op);
  if (!broadcast)
    return Access::other;
  ArrayRef<int64_t> dims = broadcast.getDims();
  int64_t rank = shapeOf(broadcast).size();
  bool prefix = int64_t(dims.size()) == rank - 1 && dims == ArrayRef<int64_t>(nd::range(0, rank - 1));
  return prefix ? Access::row : Access::other;
}

void Clusters::producersOf(Value operand, Access access, SmallVectorImpl<Edge> &edges) const {
  Operation *producer = operand.getDefiningOp();
  if (!producer || producer->getBlock() != &block)
    return;
  Role role = roleOf(producer);
  if (role == Role::root)
    edges.push_back({producer, access});
  if (role != Role::transparent)
    return;
  Access through = access == Access::same ? accessOf(producer) : Access::other;
  for (Value inner : producer->getOperands())
    producersOf(inner, through, edges);
}

void Clusters::forEachDependent(Operation *op, llvm::function_ref<void(Operation *)> visit) const {
  for (Operation *user : op->getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (!here)
      continue;
    if (roleOf(here) == Role::transparent)
      forEachDependent(here, visit);
    else
      visit(here);
  }
  for (Operation *follower : effects.followersOf(op))
    visit(follower);
}

bool Clusters::hasPathAround(int from, int to) const {
  // Depth first from what depends on `from`, clusters taken as a whole; a way into `to` counts unless it is direct.
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> stack;
  auto push = [&](Operation *op) {
    int index = find(op);
    if (index < 0) {
      if (seen.insert(op).second)
        stack.push_back(op);
      return;
    }
    for (Operation *member : clusters[index].ops)
      if (seen.insert(member).second)
        stack.push_back(member);
  };
  for (Operation *op : clusters[from].ops)
    forEachDependent(op, [&](Operation *user) {
      int index = find(user);
      if (index != from && index != to)
        push(user);
    });
  while (!stack.empty()) {
    bool found = false;
    forEachDependent(stack.pop_back_val(), [&](Operation *user) {
      if (find(user) == to)
        found = true;
      else
        push(user);
    });
    if (found)
      return true;
  }
  return false;
}

std::optional<Cluster> Clusters::unionOf(int from, int to) const {
  const Cluster &p = clusters[from], &c = clusters[to];
  Cluster joined;
  auto rowsOf = [](const Cluster &x) { return ArrayRef<int64_t>(x.domain).drop_back(); };
  if (p.domain == c.domain) {
    if (p.form != c.form && p.form != Form::map && c.form != Form::map)
      return std::nullopt;
    joined.form = p.form == Form::map ? c.form : p.form;
    joined.domain = c.domain;
  } else if (p.form == Form::map && c.form != Form::total && !c.domain.empty() && rowsOf(c) == ArrayRef(p.domain)) {
    joined.form = Form::row;
    joined.domain = c.domain;
  } else if (p.form == Form::map && c.form == Form::map && isColumnReduce(c.ops.front()) && c.ops.size() == 1 &&
             inputShape(c.ops.front()) == ArrayRef(p.domain)) {
    // Elements that only this reduction reads are made inside its loop.
    joined.form = Form::map;
    joined.domain = c.domain;
    for (Operation *op : p.ops)
      for (Operation *user : op->getUsers())
        if (find(user) != from && find(user) != to)
          return std::nullopt;
  } else {
    return std::nullopt;
  }
  // Reductions in a loop over rows go over its last dimension; a column reduction stands in a map alone.
  if (joined.form != Form::map)
    for (const Cluster *side : {&p, &c})
      for (Operation *op : side->ops)
        if (isColumnReduce(op))
          return std::nullopt;
  return joined;
}

bool Clusters::edgesFit(int from, int to, const Cluster &joined) const {
  for (Operation *op : clusters[to].ops) {
    for (Value operand : op->getOperands()) {
      SmallVector<Edge> edges;
      producersOf(operand, accessOf(op), edges);
      for (const Edge &edge : edges) {
        if (find(edge.producer) != from)
          continue;
        ArrayRef<int64_t> produced = shapeOf(edge.producer->getResult(0));
        bool fits = edge.access == Access::same && produced == inputShape(op);
        if (edge.access == Access::row)
          fits = joined.form == Form::row && produced == ArrayRef(joined.domain).drop_back();
        if (!fits)
          return false;
      }
    }
  }
  return true;
}

bool Clusters::tryJoin(int from, int to) {
  if (from == to)
    return false;
  std::optional<Cluster> joined = unionOf(from, to);
  if (!joined || !edgesFit(from, to, *joined) || !edgesFit(to, from, *joined) || hasPathAround(from, to))
    return false;
  for (int side : {from, to})
    joined->ops.append(clusters[side].ops);
  llvm::sort(joined->ops, [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); });
  for (Operation *op : joined->ops)
    clusterIndex[op] = to;
  clusters[from].ops.clear();
  clusters[to] = std::move(*joined);
  return true;
}

/// A few instructions on arrays that are in memory anyway: better made again where they are read than kept.
bool Clusters::waitsForReader(Operation *op) const {
  if (!isa<nd::AddOp, nd::SubOp, nd::MulOp, nd::NegOp>(op))
    return false;
  SmallVector<Edge> edges;
  for (Value operand : op->getOperands())
    producersOf(operand, accessOf(op), edges);
  return llvm::all_of(edges, [&](const Edge &edge) {
    return llvm::any_of(edge.producer->getUsers(), [&](Operation *user) { return isa<kernel::ProductOp>(user); });
  });
}

void Clusters::join() {
  // Reductions over rows first find their rows; a second round lets what was made map by then join them, and what
  // waited for a reader in vain.
  for (int round = 0; round < 2; ++round) {
    for (Operation &op : block) {
      if (roleOf(&op) != Role::root || (round == 0 && waitsForReader(&op)))
        continue;
      SmallVector<Edge> edges;
      for (Value operand : op.getOperands())
        producersOf(operand, accessOf(&op), edges);
      for (const Edge &edge : edges)
        tryJoin(find(edge.producer), find(&op));
    }
  }
}

bool Clusters::guardBetween(int a, int b) const {
  int first = position.lookup(clusters[a].ops.front()), last = position.lookup(clusters[b].ops.back());
  return llvm::any_of(block.getOps<run::GuardOp>(), [&](run::GuardOp guard) {
    int at = position.lookup(guard);
    return at > first && at < last;
  });
}

SmallVector<int> Clusters::siblingsOf(int index) const {
  const Cluster &cluster = clusters[index];
  llvm::SmallSetVector<int, 8> found;
  for (Operation *op : cluster.ops)
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (shapeOf(operand) != ArrayRef(cluster.domain) || (source && roleOf(source) != Role::other))
        continue;
      for (Operation *user : operand.getUsers())
        if (int other = find(user); other > index)
          found.insert(other);
    }
  SmallVector<int> later = found.takeVector();
  llvm::sort(later);
  return later;
}

/// Loops over one domain that read the same array read it once. Not across a guard: what is ahead of one cannot be
/// written in place. Pairs are found through what they read: most clusters have nothing to do with one another.
void Clusters::joinSiblings() {
  for (int i = 0; i < int(clusters.size()); ++i) {
    if (llvm::any_of(clusters[i].ops, isColumnReduce))
      continue;
    for (int j : siblingsOf(i)) {
      const Cluster &a = clusters[i], &b = clusters[j];
      if (a.domain != b.domain || a.form != b.form || llvm::any_of(b.ops, isColumnReduce))
        continue;
      if (!guardBetween(i, j) && !hasPathAround(i, j) && !hasPathAround(j, i) && tryJoin(i, j))
        break;
    }
  }
}

} // namespace dyn::fuse
