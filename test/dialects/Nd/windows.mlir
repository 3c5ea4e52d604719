// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// Windows print as they are written; their shapes are inferred.

// CHECK-LABEL: @windows
func.func @windows(%x: tensor<2x8x9xf32>) {
  // CHECK: nd.window %{{.*}} sizes [3, 2] strides [1, 2] dilations [2, 1] low [1, 0] high [1, 0] : tensor<2x8x9xf32> -> tensor<2x3x2x6x4xf32>
  %0 = nd.window %x sizes [3, 2] strides [1, 2] dilations [2, 1] low [1, 0] high [1, 0] : tensor<2x8x9xf32> -> tensor<2x3x2x6x4xf32>
  // CHECK: nd.unwindow %{{.*}} shape [8, 9] sizes [3, 2] strides [1, 2] dilations [2, 1] low [1, 0] high [1, 0] : tensor<2x3x2x6x4xf32> -> tensor<2x8x9xf32>
  %1 = nd.unwindow %0 shape [8, 9] sizes [3, 2] strides [1, 2] dilations [2, 1] low [1, 0] high [1, 0] : tensor<2x3x2x6x4xf32> -> tensor<2x8x9xf32>
  return
}
