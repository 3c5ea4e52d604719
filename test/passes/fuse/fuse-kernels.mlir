// RUN: %dyn-opt %s --fuse-kernels | FileCheck %s

// Tests that a chain of elementwise ops with several outputs is one loop, with scalars outside.
// CHECK-LABEL: func.func @update
func.func @update() {
  %p = run.read arena 0 offset 0 "p" : tensor<100xf32>
  %m = run.read arena 1 offset 0 "m" : tensor<100xf32>
  %g = run.read arena 2 offset 0 "g" : tensor<100xf32>
  %lr = run.number 0 "lr" : tensor<f64>
  // CHECK: %[[RATE:.*]] = nd.cast
  %rate = nd.cast %lr : tensor<f64> -> tensor<f32>
  // CHECK: %[[K:.*]]:2 = kernel.fused map [100]({{.*}}%[[RATE]]
  // CHECK-NOT: kernel.fused
  // CHECK: run.write
  %r = nd.broadcast %rate dims [] : tensor<f32> -> tensor<100xf32>
  %m1 = nd.add %m, %g : tensor<100xf32>
  %d = nd.mul %m1, %r : tensor<100xf32>
  %p1 = nd.sub %p, %d : tensor<100xf32>
  run.write %p1 arena 0 offset 0 "p" : tensor<100xf32>
  run.write %m1 arena 1 offset 0 "m" : tensor<100xf32>
  return
}

// Tests that a norm over everything is one loop before the one that uses it.
// CHECK-LABEL: func.func @clip
func.func @clip() {
  %g = run.read arena 0 offset 0 "g" : tensor<100xf32>
  // CHECK: %[[SUM:.*]] = kernel.fused total [100]
  // CHECK: %[[NORM:.*]] = nd.sqrt %[[SUM]] : tensor<f32>
  // CHECK: kernel.fused map [100](%{{.*}}, %[[NORM]])
  // CHECK-NOT: kernel.fused
  // CHECK: run.write
  %s = nd.mul %g, %g : tensor<100xf32>
  %n = nd.reduce sum %s dims [0] : tensor<100xf32> -> tensor<f32>
  %q = nd.sqrt %n : tensor<f32>
  %b = nd.broadcast %q dims [] : tensor<f32> -> tensor<100xf32>
  %c = nd.div %g, %b : tensor<100xf32>
  run.write %c arena 1 offset 0 "c" : tensor<100xf32>
  return
}

// Tests that a softmax is one loop over rows.
// CHECK-LABEL: func.func @softmax
func.func @softmax() {
  %x = run.read arena 0 offset 0 "x" : tensor<8x10xf32>
  // CHECK: kernel.fused row [8, 10]
  // CHECK: nd.reduce max
  // CHECK: nd.reduce sum
  // CHECK-NOT: kernel.fused
  // CHECK: run.write
  %m = nd.reduce max %x dims [1] : tensor<8x10xf32> -> tensor<8xf32>
  %mb = nd.broadcast %m dims [0] : tensor<8xf32> -> tensor<8x10xf32>
  %c = nd.sub %x, %mb : tensor<8x10xf32>
  %e = nd.exp %c : tensor<8x10xf32>
  %s = nd.reduce sum %e dims [1] : tensor<8x10xf32> -> tensor<8xf32>
  %sb = nd.broadcast %s dims [0] : tensor<8xf32> -> tensor<8x10xf32>
  %p = nd.div %e, %sb : tensor<8x10xf32>
  run.write %p arena 1 offset 0 "p" : tensor<8x10xf32>
  return
}

// Tests that bias and activation run as the tail of the product before them.
// CHECK-LABEL: func.func @dense
func.func @dense() {
  %a = run.read arena 0 offset 0 "a" : tensor<8x4xf32>
  %w = run.read arena 1 offset 0 "w" : tensor<4x2xf32>
  %b = run.read arena 2 offset 0 "b" : tensor<2xf32>
  // CHECK: %[[C:.*]] = kernel.product
  // CHECK-NEXT: kernel.fused map [8, 2] epilogue(%[[C]]
  %c = kernel.product %a, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %bb = nd.broadcast %b dims [1] : tensor<2xf32> -> tensor<8x2xf32>
  %d = nd.add %c, %bb : tensor<8x2xf32>
  %t = nd.tanh %d : tensor<8x2xf32>
  run.write %t arena 3 offset 0 "t" : tensor<8x2xf32>
  return
}

// Tests that a loop that needs a sum of all rows is not made the tail of a product.
// CHECK-LABEL: func.func @not_by_rows
func.func @not_by_rows() {
  %a = run.read arena 0 offset 0 "a" : tensor<8x4xf32>
  %w = run.read arena 1 offset 0 "w" : tensor<4x2xf32>
  // CHECK: kernel.product
  // CHECK-NOT: epilogue
  // CHECK: run.write
  %c = kernel.product %a, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %s = nd.reduce sum %c dims [0] : tensor<8x2xf32> -> tensor<2xf32>
  run.write %s arena 3 offset 0 "s" : tensor<2xf32>
  return
}

// Tests that a value read transposed is made before the loop that reads it.
// CHECK-LABEL: func.func @apart
func.func @apart() {
  %x = run.read arena 0 offset 0 "x" : tensor<8x8xf32>
  // CHECK: kernel.fused map [8, 8]
  // CHECK: kernel.fused map [8, 8]
  %e = nd.exp %x : tensor<8x8xf32>
  %t = nd.transpose %e perm [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = nd.add %e, %t : tensor<8x8xf32>
  run.write %y arena 1 offset 0 "y" : tensor<8x8xf32>
  return
}

// Tests that the logarithms of the rows' sums are a loop over rows of its own, with whole vectors, not one a row.
// CHECK-LABEL: func.func @logarithms
// CHECK: kernel.fused row [8, 10]
// CHECK-NOT: nd.log
// CHECK: kernel.fused map [8]
// CHECK: nd.log
// CHECK: run.write
func.func @logarithms() {
  %x = run.read arena 0 offset 0 "x" : tensor<8x10xf32>
  %e = nd.exp %x : tensor<8x10xf32>
  %s = nd.reduce sum %e dims [1] : tensor<8x10xf32> -> tensor<8xf32>
  %l = nd.log %s : tensor<8xf32>
  run.write %l arena 1 offset 0 "l" : tensor<8xf32>
  return
}

// Tests that the slope of a tanh is made again from the tanh, which is in memory as a factor of a product, where it is
// read: the forward loop keeps one array, not two.
// CHECK-LABEL: func.func @slope
// CHECK: kernel.fused map [8, 8](%{{.*}}) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: nd.tanh
// CHECK-NEXT: kernel.yield
// CHECK: kernel.product
// CHECK: kernel.fused map [8, 8] epilogue
// CHECK: nd.sub
// CHECK: run.write
func.func @slope() {
  %x = run.read arena 0 offset 0 "x" : tensor<8x8xf32>
  %w = run.read arena 1 offset 0 "w" : tensor<8x8xf32>
  %t = nd.tanh %x : tensor<8x8xf32>
  %g = kernel.product %t, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %one = nd.constant dense<1.0> : tensor<8x8xf32>
  %sq = nd.mul %t, %t : tensor<8x8xf32>
  %f = nd.sub %one, %sq : tensor<8x8xf32>
  %d = nd.mul %g, %f : tensor<8x8xf32>
  run.write %d arena 2 offset 0 "d" : tensor<8x8xf32>
  return
}
