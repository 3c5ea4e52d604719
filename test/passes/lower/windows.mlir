// RUN: %dyn-run-nd %s --check=1e-5
// RUN: %dyn-run-nd %s --check=1e-5 --cpu=x86-64 --workers=3

// Tests windows against the evaluator: convolutions and both of their derivatives, with strides, dilation, padding, groups,
// one row and one column; a window and a maximum over it inside loops; sums of overlapping places, and places side by side,
// whose rows are interleaved. The bound is for f32 sums of up to a few hundred terms.

func.func @convolution_0() {
  %x = run.read arena 10 offset 0 "a0" : tensor<1x2x2x16xf64>
  %w = run.read arena 11 offset 0 "a1" : tensor<1x8x16xf64>
  %g = run.read arena 12 offset 0 "a2" : tensor<1x1x8x42xf64>
  %seen = nd.window %x sizes [2, 4] strides [1, 1] dilations [2, 1] low [1, 1] high [2, 0] : tensor<1x2x2x16xf64> -> tensor<1x2x2x4x3x14xf64>
  %flat = nd.reshape %seen : tensor<1x2x2x4x3x14xf64> -> tensor<1x1x16x42xf64>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<1x8x16xf64>, tensor<1x1x16x42xf64>) -> tensor<1x1x8x42xf64>
  %yy = nd.reshape %y : tensor<1x1x8x42xf64> -> tensor<1x8x3x14xf64>
  %z = nd.tanh %yy : tensor<1x8x3x14xf64>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<1x1x8x42xf64>, tensor<1x1x16x42xf64>) -> tensor<1x8x16xf64>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<1x8x16xf64>, tensor<1x1x8x42xf64>) -> tensor<1x1x16x42xf64>
  %dcr = nd.reshape %dc : tensor<1x1x16x42xf64> -> tensor<1x2x2x4x3x14xf64>
  %dx = nd.unwindow %dcr shape [2, 16] sizes [2, 4] strides [1, 1] dilations [2, 1] low [1, 1] high [2, 0] : tensor<1x2x2x4x3x14xf64> -> tensor<1x2x2x16xf64>
  %e = nd.exp %seen : tensor<1x2x2x4x3x14xf64>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<1x2x2x4x3x14xf64> -> tensor<1x2x3x14xf64>
  %ux = nd.unwindow %e shape [2, 16] sizes [2, 4] strides [1, 1] dilations [2, 1] low [1, 1] high [2, 0] : tensor<1x2x2x4x3x14xf64> -> tensor<1x2x2x16xf64>
  run.write %z arena 13 offset 0 "a3" : tensor<1x8x3x14xf64>
  run.write %dw arena 14 offset 0 "a4" : tensor<1x8x16xf64>
  run.write %dx arena 15 offset 0 "a5" : tensor<1x2x2x16xf64>
  run.write %ux arena 16 offset 0 "a6" : tensor<1x2x2x16xf64>
  run.write %mx arena 17 offset 0 "a7" : tensor<1x2x3x14xf64>
  return
}

func.func @convolution_1() {
  %x = run.read arena 10 offset 0 "a0" : tensor<2x2x10x16xf64>
  %w = run.read arena 11 offset 0 "a1" : tensor<1x2x6xf64>
  %g = run.read arena 12 offset 0 "a2" : tensor<2x1x2x60xf64>
  %seen = nd.window %x sizes [3, 1] strides [2, 2] dilations [1, 1] low [2, 1] high [2, 2] : tensor<2x2x10x16xf64> -> tensor<2x2x3x1x6x10xf64>
  %flat = nd.reshape %seen : tensor<2x2x3x1x6x10xf64> -> tensor<2x1x6x60xf64>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<1x2x6xf64>, tensor<2x1x6x60xf64>) -> tensor<2x1x2x60xf64>
  %yy = nd.reshape %y : tensor<2x1x2x60xf64> -> tensor<2x2x6x10xf64>
  %z = nd.tanh %yy : tensor<2x2x6x10xf64>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<2x1x2x60xf64>, tensor<2x1x6x60xf64>) -> tensor<1x2x6xf64>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<1x2x6xf64>, tensor<2x1x2x60xf64>) -> tensor<2x1x6x60xf64>
  %dcr = nd.reshape %dc : tensor<2x1x6x60xf64> -> tensor<2x2x3x1x6x10xf64>
  %dx = nd.unwindow %dcr shape [10, 16] sizes [3, 1] strides [2, 2] dilations [1, 1] low [2, 1] high [2, 2] : tensor<2x2x3x1x6x10xf64> -> tensor<2x2x10x16xf64>
  %e = nd.exp %seen : tensor<2x2x3x1x6x10xf64>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<2x2x3x1x6x10xf64> -> tensor<2x2x6x10xf64>
  %ux = nd.unwindow %e shape [10, 16] sizes [3, 1] strides [2, 2] dilations [1, 1] low [2, 1] high [2, 2] : tensor<2x2x3x1x6x10xf64> -> tensor<2x2x10x16xf64>
  run.write %z arena 13 offset 0 "a3" : tensor<2x2x6x10xf64>
  run.write %dw arena 14 offset 0 "a4" : tensor<1x2x6xf64>
  run.write %dx arena 15 offset 0 "a5" : tensor<2x2x10x16xf64>
  run.write %ux arena 16 offset 0 "a6" : tensor<2x2x10x16xf64>
  run.write %mx arena 17 offset 0 "a7" : tensor<2x2x6x10xf64>
  return
}

func.func @convolution_2() {
  %x = run.read arena 0 offset 0 "a0" : tensor<3x9x6x17xf32>
  %w = run.read arena 1 offset 0 "a1" : tensor<3x1x12xf32>
  %g = run.read arena 2 offset 0 "a2" : tensor<3x3x1x36xf32>
  %seen = nd.window %x sizes [2, 2] strides [3, 1] dilations [1, 1] low [1, 1] high [0, 1] : tensor<3x9x6x17xf32> -> tensor<3x9x2x2x2x18xf32>
  %flat = nd.reshape %seen : tensor<3x9x2x2x2x18xf32> -> tensor<3x3x12x36xf32>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<3x1x12xf32>, tensor<3x3x12x36xf32>) -> tensor<3x3x1x36xf32>
  %yy = nd.reshape %y : tensor<3x3x1x36xf32> -> tensor<3x3x2x18xf32>
  %z = nd.tanh %yy : tensor<3x3x2x18xf32>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<3x3x1x36xf32>, tensor<3x3x12x36xf32>) -> tensor<3x1x12xf32>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<3x1x12xf32>, tensor<3x3x1x36xf32>) -> tensor<3x3x12x36xf32>
  %dcr = nd.reshape %dc : tensor<3x3x12x36xf32> -> tensor<3x9x2x2x2x18xf32>
  %dx = nd.unwindow %dcr shape [6, 17] sizes [2, 2] strides [3, 1] dilations [1, 1] low [1, 1] high [0, 1] : tensor<3x9x2x2x2x18xf32> -> tensor<3x9x6x17xf32>
  %e = nd.exp %seen : tensor<3x9x2x2x2x18xf32>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<3x9x2x2x2x18xf32> -> tensor<3x9x2x18xf32>
  %ux = nd.unwindow %e shape [6, 17] sizes [2, 2] strides [3, 1] dilations [1, 1] low [1, 1] high [0, 1] : tensor<3x9x2x2x2x18xf32> -> tensor<3x9x6x17xf32>
  run.write %z arena 3 offset 0 "a3" : tensor<3x3x2x18xf32>
  run.write %dw arena 4 offset 0 "a4" : tensor<3x1x12xf32>
  run.write %dx arena 5 offset 0 "a5" : tensor<3x9x6x17xf32>
  run.write %ux arena 6 offset 0 "a6" : tensor<3x9x6x17xf32>
  run.write %mx arena 7 offset 0 "a7" : tensor<3x9x2x18xf32>
  return
}

func.func @convolution_3() {
  %x = run.read arena 10 offset 0 "a0" : tensor<3x2x3x7xf64>
  %w = run.read arena 11 offset 0 "a1" : tensor<1x1x4xf64>
  %g = run.read arena 12 offset 0 "a2" : tensor<3x1x1x12xf64>
  %seen = nd.window %x sizes [1, 2] strides [1, 3] dilations [1, 2] low [2, 0] high [1, 1] : tensor<3x2x3x7xf64> -> tensor<3x2x1x2x6x2xf64>
  %flat = nd.reshape %seen : tensor<3x2x1x2x6x2xf64> -> tensor<3x1x4x12xf64>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<1x1x4xf64>, tensor<3x1x4x12xf64>) -> tensor<3x1x1x12xf64>
  %yy = nd.reshape %y : tensor<3x1x1x12xf64> -> tensor<3x1x6x2xf64>
  %z = nd.tanh %yy : tensor<3x1x6x2xf64>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<3x1x1x12xf64>, tensor<3x1x4x12xf64>) -> tensor<1x1x4xf64>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<1x1x4xf64>, tensor<3x1x1x12xf64>) -> tensor<3x1x4x12xf64>
  %dcr = nd.reshape %dc : tensor<3x1x4x12xf64> -> tensor<3x2x1x2x6x2xf64>
  %dx = nd.unwindow %dcr shape [3, 7] sizes [1, 2] strides [1, 3] dilations [1, 2] low [2, 0] high [1, 1] : tensor<3x2x1x2x6x2xf64> -> tensor<3x2x3x7xf64>
  %e = nd.exp %seen : tensor<3x2x1x2x6x2xf64>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<3x2x1x2x6x2xf64> -> tensor<3x2x6x2xf64>
  %ux = nd.unwindow %e shape [3, 7] sizes [1, 2] strides [1, 3] dilations [1, 2] low [2, 0] high [1, 1] : tensor<3x2x1x2x6x2xf64> -> tensor<3x2x3x7xf64>
  run.write %z arena 13 offset 0 "a3" : tensor<3x1x6x2xf64>
  run.write %dw arena 14 offset 0 "a4" : tensor<1x1x4xf64>
  run.write %dx arena 15 offset 0 "a5" : tensor<3x2x3x7xf64>
  run.write %ux arena 16 offset 0 "a6" : tensor<3x2x3x7xf64>
  run.write %mx arena 17 offset 0 "a7" : tensor<3x2x6x2xf64>
  return
}

func.func @convolution_4() {
  %x = run.read arena 0 offset 0 "a0" : tensor<4x4x9x19xf32>
  %w = run.read arena 1 offset 0 "a1" : tensor<2x4x8xf32>
  %g = run.read arena 2 offset 0 "a2" : tensor<4x2x4x24xf32>
  %seen = nd.window %x sizes [1, 4] strides [3, 3] dilations [1, 1] low [1, 1] high [0, 0] : tensor<4x4x9x19xf32> -> tensor<4x4x1x4x4x6xf32>
  %flat = nd.reshape %seen : tensor<4x4x1x4x4x6xf32> -> tensor<4x2x8x24xf32>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<2x4x8xf32>, tensor<4x2x8x24xf32>) -> tensor<4x2x4x24xf32>
  %yy = nd.reshape %y : tensor<4x2x4x24xf32> -> tensor<4x8x4x6xf32>
  %z = nd.tanh %yy : tensor<4x8x4x6xf32>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<4x2x4x24xf32>, tensor<4x2x8x24xf32>) -> tensor<2x4x8xf32>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<2x4x8xf32>, tensor<4x2x4x24xf32>) -> tensor<4x2x8x24xf32>
  %dcr = nd.reshape %dc : tensor<4x2x8x24xf32> -> tensor<4x4x1x4x4x6xf32>
  %dx = nd.unwindow %dcr shape [9, 19] sizes [1, 4] strides [3, 3] dilations [1, 1] low [1, 1] high [0, 0] : tensor<4x4x1x4x4x6xf32> -> tensor<4x4x9x19xf32>
  %e = nd.exp %seen : tensor<4x4x1x4x4x6xf32>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<4x4x1x4x4x6xf32> -> tensor<4x4x4x6xf32>
  %ux = nd.unwindow %e shape [9, 19] sizes [1, 4] strides [3, 3] dilations [1, 1] low [1, 1] high [0, 0] : tensor<4x4x1x4x4x6xf32> -> tensor<4x4x9x19xf32>
  run.write %z arena 3 offset 0 "a3" : tensor<4x8x4x6xf32>
  run.write %dw arena 4 offset 0 "a4" : tensor<2x4x8xf32>
  run.write %dx arena 5 offset 0 "a5" : tensor<4x4x9x19xf32>
  run.write %ux arena 6 offset 0 "a6" : tensor<4x4x9x19xf32>
  run.write %mx arena 7 offset 0 "a7" : tensor<4x4x4x6xf32>
  return
}

func.func @convolution_5() {
  %x = run.read arena 10 offset 0 "a0" : tensor<2x2x12x9xf64>
  %w = run.read arena 11 offset 0 "a1" : tensor<1x5x6xf64>
  %g = run.read arena 12 offset 0 "a2" : tensor<2x1x5x20xf64>
  %seen = nd.window %x sizes [3, 1] strides [3, 2] dilations [2, 2] low [2, 1] high [1, 0] : tensor<2x2x12x9xf64> -> tensor<2x2x3x1x4x5xf64>
  %flat = nd.reshape %seen : tensor<2x2x3x1x4x5xf64> -> tensor<2x1x6x20xf64>
  %y = nd.contract %w, %flat "gmk", "ngkp" -> "ngmp" : (tensor<1x5x6xf64>, tensor<2x1x6x20xf64>) -> tensor<2x1x5x20xf64>
  %yy = nd.reshape %y : tensor<2x1x5x20xf64> -> tensor<2x5x4x5xf64>
  %z = nd.tanh %yy : tensor<2x5x4x5xf64>
  %dw = nd.contract %g, %flat "ngmp", "ngkp" -> "gmk" : (tensor<2x1x5x20xf64>, tensor<2x1x6x20xf64>) -> tensor<1x5x6xf64>
  %dc = nd.contract %w, %g "gmk", "ngmp" -> "ngkp" : (tensor<1x5x6xf64>, tensor<2x1x5x20xf64>) -> tensor<2x1x6x20xf64>
  %dcr = nd.reshape %dc : tensor<2x1x6x20xf64> -> tensor<2x2x3x1x4x5xf64>
  %dx = nd.unwindow %dcr shape [12, 9] sizes [3, 1] strides [3, 2] dilations [2, 2] low [2, 1] high [1, 0] : tensor<2x2x3x1x4x5xf64> -> tensor<2x2x12x9xf64>
  %e = nd.exp %seen : tensor<2x2x3x1x4x5xf64>
  %mx = nd.reduce max %seen dims [2, 3] : tensor<2x2x3x1x4x5xf64> -> tensor<2x2x4x5xf64>
  %ux = nd.unwindow %e shape [12, 9] sizes [3, 1] strides [3, 2] dilations [2, 2] low [2, 1] high [1, 0] : tensor<2x2x3x1x4x5xf64> -> tensor<2x2x12x9xf64>
  run.write %z arena 13 offset 0 "a3" : tensor<2x5x4x5xf64>
  run.write %dw arena 14 offset 0 "a4" : tensor<1x5x6xf64>
  run.write %dx arena 15 offset 0 "a5" : tensor<2x2x12x9xf64>
  run.write %ux arena 16 offset 0 "a6" : tensor<2x2x12x9xf64>
  run.write %mx arena 17 offset 0 "a7" : tensor<2x2x4x5xf64>
  return
}

func.func @tiles() {
  %x = run.read arena 0 offset 0 "x" : tensor<3x2x2x14x14xf32>
  %u = nd.unwindow %x shape [28, 28] sizes [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0] : tensor<3x2x2x14x14xf32> -> tensor<3x28x28xf32>
  run.write %u arena 1 offset 0 "u" : tensor<3x28x28xf32>
  return
}
func.func @tiles_of_four_with_a_rest() {
  %x = run.read arena 10 offset 0 "x" : tensor<2x3x4x5x13xf64>
  %u = nd.unwindow %x shape [16, 55] sizes [3, 4] strides [3, 4] dilations [1, 1] low [0, 0] high [0, 0] : tensor<2x3x4x5x13xf64> -> tensor<2x16x55xf64>
  run.write %u arena 11 offset 0 "u" : tensor<2x16x55xf64>
  return
}
func.func @tiles_of_seven() {
  %x = run.read arena 0 offset 0 "x" : tensor<2x1x7x5x9xf32>
  %u = nd.unwindow %x shape [5, 63] sizes [1, 7] strides [1, 7] dilations [1, 1] low [0, 0] high [0, 0] : tensor<2x1x7x5x9xf32> -> tensor<2x5x63xf32>
  run.write %u arena 1 offset 0 "u" : tensor<2x5x63xf32>
  return
}
