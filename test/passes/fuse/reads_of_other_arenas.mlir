// RUN: %dyn-opt %s --fuse-kernels | FileCheck %s
//
// Tests that a read behind a write to another arena does not keep kernels apart from one order: what the two reads of the
// scale make is one loop, which stands ahead of the first write.

// CHECK-LABEL: @two_items
// CHECK: kernel.fused
// CHECK: run.write {{.*}} arena 3 offset 0
// CHECK: run.write {{.*}} arena 3 offset 1
func.func @two_items() {
  %x = run.read arena 2 offset 0 "x" : tensor<1x4xf64>
  %a = run.read arena 0 offset 0 "scale" : tensor<4xf64>
  %wide = nd.broadcast %a dims [1] : tensor<4xf64> -> tensor<1x4xf64>
  %one = nd.mul %wide, %x : tensor<1x4xf64>
  %cut = nd.slice %one offsets [0, 1] sizes [1, 1] strides [1, 1] : tensor<1x4xf64> -> tensor<1x1xf64>
  %first = nd.reshape %cut : tensor<1x1xf64> -> tensor<f64>
  run.write %first arena 3 offset 0 "first" : tensor<f64>
  %b = run.read arena 0 offset 0 "scale" : tensor<4xf64>
  %again = nd.broadcast %b dims [1] : tensor<4xf64> -> tensor<1x4xf64>
  %two = nd.mul %again, %x : tensor<1x4xf64>
  %part = nd.slice %two offsets [0, 3] sizes [1, 1] strides [1, 1] : tensor<1x4xf64> -> tensor<1x1xf64>
  %second = nd.reshape %part : tensor<1x1xf64> -> tensor<f64>
  run.write %second arena 3 offset 1 "second" : tensor<f64>
  return
}
