//===- Clusters.h - which array ops share a loop --------------------------===//
//
// The analysis behind fuse-kernels, on one block. Ops are sorted into
//
//   root       computes elements: elementwise, gather, pad, reduce
//   transparent  says where elements come from: broadcast, transpose, strided
//              slice, window, iota, splat; free to repeat in every loop that reads it
//   other      everything else: scalars, views, products, effects, regions
//
// Each root starts as a cluster of its own; clusters then join along their
// edges. A transparent op whose result is needed as an array is a root.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_FUSE_CLUSTERS_H
#define DYN_PASSES_FUSE_CLUSTERS_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "passes/fuse/EffectOrder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dyn::fuse {

enum class Role { other, root, transparent };

/// One loop nest to be.
struct Cluster {
  kernel::Form form = kernel::Form::map;
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<mlir::Operation *> ops; ///< roots, in block order
};

/// True for a reshape, or a slice that is one contiguous piece of memory.
bool isView(mlir::Operation *op);
/// True for a constant whose elements are all the same.
bool isSplat(mlir::Operation *op);

class Clusters {
public:
  explicit Clusters(mlir::Block &block);

  Role roleOf(mlir::Operation *op) const { return roles.lookup(op); }
  /// Clusters that still have ops, in the order of their first op.
  llvm::SmallVector<const Cluster *> list() const;
  /// The cluster of a root, or null.
  const Cluster *clusterOf(mlir::Operation *op) const;

private:
  enum class Access { same, row, other };
  struct Edge {
    mlir::Operation *producer;
    Access access;
  };

  static Access accessOf(mlir::Operation *op);
  void classify();
  void start(mlir::Operation *op);
  void join();
  /// Roots that `operand` of a root reads, through transparent ops.
  void producersOf(mlir::Value operand, Access access, llvm::SmallVectorImpl<Edge> &edges) const;
  bool waitsForReader(mlir::Operation *op) const;
  bool tryJoin(int from, int to);
  /// The form and domain of the union, if one loop can do both.
  std::optional<Cluster> unionOf(int from, int to) const;
  bool edgesFit(int from, int to, const Cluster &joined) const;
  bool hasPathAround(int from, int to) const;
  void joinSiblings();
  /// Later clusters that read an array of the domain of cluster `index` which it reads too, in order.
  llvm::SmallVector<int> siblingsOf(int index) const;
  bool guardBetween(int a, int b) const;
  int find(mlir::Operation *op) const;
  /// Nodes that depend on `op`, by value (transparent ops passed through) or by effect.
  void forEachDependent(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> visit) const;

  mlir::Block &block;
  EffectOrder effects;
  llvm::DenseMap<mlir::Operation *, Role> roles;
  llvm::DenseMap<mlir::Operation *, int> clusterIndex, position;
  std::vector<Cluster> clusters;
};

} // namespace dyn::fuse

#endif // DYN_PASSES_FUSE_CLUSTERS_H
