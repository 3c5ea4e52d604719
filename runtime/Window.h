//===- Window.h - a window that slides over images ------------------------===//
//
// Shared by the compiler and the runtime: how the operand of a product is read
// from images (nd.window) without being stored whole.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_WINDOW_H
#define DYN_RUNTIME_WINDOW_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace dyn::plan {

/// What a product with a window computes. Images are [channels, rows, columns]; W is [k, n]: all k = channels * size *
/// size elements of the window at all n places. Image i belongs to group i % groups; F is [m, k] for each group.
enum class WindowRole : int64_t {
  reads,  ///< Y[i] = F[group] W[i], [m, n] for each image: a convolution
  sums,   ///< G[group] = sum over its images of W[i] Y[i]^T, [k, m]: the derivative by F
  spreads ///< X[i] = the transpose of reading, of F[group]^T Y[i]: the derivative by the images
};

struct WindowAxis {
  int64_t extent = 1, padded = 1; ///< of the image, and with zeros at both ends
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t low = 0; ///< zeros ahead
  int64_t places = 1;
};

struct Window {
  WindowRole role = WindowRole::reads;
  int64_t groups = 1, channels = 1;
  WindowAxis axes[2]; ///< rows, columns

  static constexpr int64_t count = 17; ///< numbers that make a window
  static Window from(const int64_t *numbers) {
    Window w;
    w.role = static_cast<WindowRole>(numbers[0]);
    w.groups = numbers[1], w.channels = numbers[2];
    for (int d = 0; d < 2; ++d) {
      const int64_t *x = numbers + 3 + 7 * d;
      w.axes[d] = {x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
    }
    return w;
  }
  std::array<int64_t, count> numbers() const {
    std::array<int64_t, count> list{static_cast<int64_t>(role), groups, channels};
    for (int d = 0; d < 2; ++d) {
      const WindowAxis &x = axes[d];
      int64_t all[] = {x.extent, x.padded, x.size, x.stride, x.dilation, x.low, x.places};
      for (int i = 0; i < 7; ++i)
        list[static_cast<std::size_t>(3 + 7 * d + i)] = all[i];
    }
    return list;
  }
  int64_t elements() const { return channels * axes[0].size * axes[1].size; } ///< of the window: k
  int64_t places() const { return axes[0].places * axes[1].places; }          ///< n
  int64_t image() const { return channels * axes[0].extent * axes[1].extent; }
  int64_t padded() const { return channels * axes[0].padded * axes[1].padded; }
};

} // namespace dyn::plan

#endif // DYN_RUNTIME_WINDOW_H
