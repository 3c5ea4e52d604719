//===- Matmul.h - the matrix products of a plan ---------------------------===//
#ifndef DYN_RUNTIME_CPU_MATMUL_H
#define DYN_RUNTIME_CPU_MATMUL_H

#include "runtime/Arena.h"
#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/Threads.h"
#include "runtime/Window.h"
#include "runtime/abi.h"
#include "runtime/cpu/MatmulKernels.h"

#include <cstdint>
#include <vector>

namespace dyn::cpu {

/// Everything that can be decided before the first call is decided on creation; a call neither allocates nor takes a
/// lock. Rows are cut in blocks that depend on the shape alone and k is never split, so bits do not depend on threads.
class Products {
public:
  /// `pool` outlives this. Fails when scratch cannot be allocated or an element type has no product.
  static Expected<Products> create(const std::vector<plan::Product> &list, ThreadPool &pool,
                                   const KernelSet &kernels = chooseKernels());

  /// dyn_matmul: C = A B. `epilogue`, when not null, is called with ranges of the batch * m rows of C,
  /// each once, right after they are final, possibly from several threads at once.
  void run(int64_t product, const void *a, const void *b, void *c, DynRange epilogue, void *closure);

  /// Which instruction set was chosen.
  const char *kernelName() const { return kernels->name; }

private:
  /// What a piece of work is.
  enum class Pieces {
    rows,    ///< blocks of rows; B is packed beforehand, by all threads
    columns, ///< ranges of panels for all rows (few rows, or little work)
    members, ///< ranges of the batch
    windows  ///< images, or elements of the window: WindowProducts.cpp
  };
  struct Prepared {
    plan::Product shape;
    Pieces pieces = Pieces::columns;
    bool packB = false;         ///< B is read from packed panels (a ragged last one always is)
    bool packA = false;         ///< rows of A are packed, block by block
    int64_t panels = 0;
    int64_t grain = 1;          ///< rows, panels or batch members a piece
    int64_t epilogueRows = 0;   ///< at most so many rows a call of the epilogue
    int64_t panelElements = 0, tileElements = 0; ///< scratch
    plan::Window window;        ///< of pieces that are windows
    int64_t windowRows = 0;     ///< rows of places that are unfolded together
    int64_t paddedElements = 0, unfoldedElements = 0; ///< scratch
  };
  template <typename T> struct Call;
  template <typename T> struct WindowCall;

  template <typename T> static Prepared prepare(const plan::Product &shape, int threads, const Kernels<T> &kernels);
  template <typename T>
  static Prepared prepareWindow(const plan::Product &shape, int threads, const Kernels<T> &kernels);
  template <typename T>
  void runWindow(const Prepared &prepared, const Kernels<T> &kernels, const void *a, const void *b, void *c,
                 DynRange epilogue, void *closure);
  template <typename T>
  void runAs(const Prepared &prepared, const Kernels<T> &kernels, const void *a, const void *b, void *c,
             DynRange epilogue, void *closure);
  /// Scratch of the calling thread.
  template <typename T> T *panelScratch() const {
    return static_cast<T *>(panelBlocks[static_cast<size_t>(ThreadPool::threadIndex())].data());
  }
  template <typename T> T *tileScratch() const {
    return static_cast<T *>(tileBlocks[static_cast<size_t>(ThreadPool::threadIndex())].data());
  }

  ThreadPool *pool = nullptr;
  const KernelSet *kernels = nullptr;
  std::vector<Prepared> list;
  std::vector<Block> panelBlocks, tileBlocks, windowBlocks; ///< one a thread
};

} // namespace dyn::cpu
#endif // DYN_RUNTIME_CPU_MATMUL_H
