// RUN: %dyn-opt %s --normalize-contractions --split-input-file | FileCheck %s

// Tests that a convolution is a product that reads its window from the images, whatever stands around the letters.
// CHECK-LABEL: func.func @convolution
// CHECK-SAME: %[[X:.*]]: tensor<8x3x6x6xf32>, %[[W:.*]]: tensor<5x27xf32>
func.func @convolution(%x: tensor<8x3x6x6xf32>, %w: tensor<5x27xf32>) -> tensor<8x5x16xf32> {
  // CHECK-NOT: nd.window
  // CHECK: %[[F:.*]] = nd.reshape %[[W]] : tensor<5x27xf32> -> tensor<1x5x27xf32>
  // CHECK: kernel.product %[[F]], %[[X]] window [0, 1, 3, 6, 6, 3, 1, 1, 0, 4, 6, 6, 3, 1, 1, 0, 4]
  // CHECK-SAME: -> tensor<8x5x16xf32>
  %seen = nd.window %x sizes [3, 3] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] : tensor<8x3x6x6xf32> -> tensor<8x3x3x3x4x4xf32>
  %flat = nd.reshape %seen : tensor<8x3x3x3x4x4xf32> -> tensor<8x27x16xf32>
  %y = nd.contract %w, %flat "ok", "nkp" -> "nop" : (tensor<5x27xf32>, tensor<8x27x16xf32>) -> tensor<8x5x16xf32>
  return %y : tensor<8x5x16xf32>
}

// -----
// Tests that letters of the window's dimensions need no reshape, and that a letter in both operands is a group.
// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<8x2x6xf32>, %w: tensor<2x5x3xf32>) -> tensor<8x2x5x4xf32> {
  // CHECK: kernel.product {{.*}} window [0, 2, 1, 1, 1, 1, 1, 1, 0, 1, 6, 6, 3, 1, 1, 0, 4]
  // CHECK-SAME: -> tensor<8x10x4xf32>
  %seen = nd.window %x sizes [3] strides [1] dilations [1] low [0] high [0] : tensor<8x2x6xf32> -> tensor<8x2x3x4xf32>
  %y = nd.contract %w, %seen "gmk", "ngkp" -> "ngmp" : (tensor<2x5x3xf32>, tensor<8x2x3x4xf32>) -> tensor<8x2x5x4xf32>
  return %y : tensor<8x2x5x4xf32>
}

// -----
// Tests that the derivative by the filters sums over images and places.
// CHECK-LABEL: func.func @filters
func.func @filters(%x: tensor<8x3x6xf32>, %g: tensor<8x5x4xf32>) -> tensor<5x9xf32> {
  // CHECK: kernel.product %arg1, %arg0 window [1, 1, 3, 1, 1, 1, 1, 1, 0, 1, 6, 6, 3, 1, 1, 0, 4]
  // CHECK-SAME: -> tensor<1x9x5xf32>
  // CHECK: nd.transpose {{.*}} -> tensor<5x9xf32>
  %seen = nd.window %x sizes [3] strides [1] dilations [1] low [0] high [0] : tensor<8x3x6xf32> -> tensor<8x3x3x4xf32>
  %flat = nd.reshape %seen : tensor<8x3x3x4xf32> -> tensor<8x9x4xf32>
  %y = nd.contract %g, %flat "nop", "nkp" -> "ok" : (tensor<8x5x4xf32>, tensor<8x9x4xf32>) -> tensor<5x9xf32>
  return %y : tensor<5x9xf32>
}

// -----
// Tests that the derivative by the images is made image by image.
// CHECK-LABEL: func.func @images
func.func @images(%w: tensor<5x9xf32>, %g: tensor<8x5x4xf32>) -> tensor<8x3x6xf32> {
  // CHECK: kernel.product {{.*}} window [2, 1, 3, 1, 1, 1, 1, 1, 0, 1, 6, 6, 3, 1, 1, 0, 4]
  // CHECK-SAME: -> tensor<8x3x6xf32>
  // CHECK-NOT: nd.unwindow
  %flat = nd.contract %w, %g "ok", "nop" -> "nkp" : (tensor<5x9xf32>, tensor<8x5x4xf32>) -> tensor<8x9x4xf32>
  %seen = nd.reshape %flat : tensor<8x9x4xf32> -> tensor<8x3x3x4xf32>
  %y = nd.unwindow %seen shape [6] sizes [3] strides [1] dilations [1] low [0] high [0] : tensor<8x3x3x4xf32> -> tensor<8x3x6xf32>
  return %y : tensor<8x3x6xf32>
}

// -----
// Tests that a product over places only in part reads no window: the letters are not those of a window.
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<3x6xf32>, %w: tensor<3x4xf32>) -> tensor<3xf32> {
  // CHECK-NOT: kernel.product {{.*}} window
  // CHECK: return
  %seen = nd.window %x sizes [3] strides [1] dilations [1] low [0] high [0] : tensor<3x6xf32> -> tensor<3x3x4xf32>
  %y = nd.contract %w, %seen "kp", "ckp" -> "c" : (tensor<3x4xf32>, tensor<3x3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----
// Tests that a letter of the window alone, which is summed by itself, is no letter of a product with a window.
// CHECK-LABEL: func.func @alone
func.func @alone(%x: tensor<8x2x6xf32>, %w: tensor<5x3xf32>) -> tensor<8x5x4xf32> {
  // CHECK-NOT: kernel.product {{.*}} window
  // CHECK: return
  %seen = nd.window %x sizes [3] strides [1] dilations [1] low [0] high [0] : tensor<8x2x6xf32> -> tensor<8x2x3x4xf32>
  %y = nd.contract %w, %seen "mk", "nakp" -> "nmp" : (tensor<5x3xf32>, tensor<8x2x3x4xf32>) -> tensor<8x5x4xf32>
  return %y : tensor<8x5x4xf32>
}

// -----
// Tests that what follows a convolution element by element is made in its shape, a bias of channels too.
// CHECK-LABEL: func.func @follows
func.func @follows(%x: tensor<8x3x6x6xf32>, %w: tensor<5x27xf32>, %b: tensor<5x16xf32>) -> tensor<8x5x4x4xf32> {
  // CHECK: kernel.product
  // CHECK: nd.broadcast %arg2 dims [1, 2] : tensor<5x16xf32> -> tensor<8x5x16xf32>
  // CHECK: nd.add {{.*}} : tensor<8x5x16xf32>
  // CHECK: nd.max {{.*}} : tensor<8x5x16xf32>
  // CHECK: nd.reshape {{.*}} -> tensor<8x5x4x4xf32>
  %seen = nd.window %x sizes [3, 3] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] : tensor<8x3x6x6xf32> -> tensor<8x3x3x3x4x4xf32>
  %flat = nd.reshape %seen : tensor<8x3x3x3x4x4xf32> -> tensor<8x27x16xf32>
  %p = nd.contract %w, %flat "ok", "nkp" -> "nop" : (tensor<5x27xf32>, tensor<8x27x16xf32>) -> tensor<8x5x16xf32>
  %y = nd.reshape %p : tensor<8x5x16xf32> -> tensor<8x5x4x4xf32>
  %places = nd.reshape %b : tensor<5x16xf32> -> tensor<5x4x4xf32>
  %bias = nd.broadcast %places dims [1, 2, 3] : tensor<5x4x4xf32> -> tensor<8x5x4x4xf32>
  %z = nd.add %y, %bias : tensor<8x5x4x4xf32>
  %zero = nd.constant dense<0.0> : tensor<8x5x4x4xf32>
  %r = nd.max %z, %zero : tensor<8x5x4x4xf32>
  return %r : tensor<8x5x4x4xf32>
}

// -----
// Tests that a reduction of rows and of what is around them goes along the rows first.
// CHECK-LABEL: func.func @apart
func.func @apart(%x: tensor<8x5x16xf32>) -> tensor<5xf32> {
  // CHECK: nd.reduce sum %{{.*}} dims [2] : tensor<8x5x16xf32> -> tensor<8x5xf32>
  // CHECK: nd.reduce sum %{{.*}} dims [0] : tensor<8x5xf32> -> tensor<5xf32>
  %y = nd.reduce sum %x dims [0, 2] : tensor<8x5x16xf32> -> tensor<5xf32>
  return %y : tensor<5xf32>
}
