// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// Ops that a routine of the runtime does print as they are written.

// CHECK-LABEL: @order
func.func @order(%x: tensor<8x4xf32>, %y: tensor<650xi64>) {
  // CHECK: nd.argsort %{{.*}} dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %0 = nd.argsort %x dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  // CHECK: nd.argsort %{{.*}} dim 0 offsets [0, 640, 650] : (tensor<650xi64>) -> tensor<650xi64>
  %1 = nd.argsort %y dim 0 offsets [0, 640, 650] : (tensor<650xi64>) -> tensor<650xi64>
  return
}

// CHECK-LABEL: @matrices
func.func @matrices(%a: tensor<3x4x4xf64>, %t: tensor<4x2xf64>, %w: tensor<2x4xf32>, %b: tensor<3x4x5xf64>) {
  // CHECK: nd.cholesky %{{.*}} : (tensor<3x4x4xf64>) -> tensor<3x4x4xf64>
  %0 = nd.cholesky %a : (tensor<3x4x4xf64>) -> tensor<3x4x4xf64>
  // CHECK: nd.qr %{{.*}} : (tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<2x2xf64>)
  %1:2 = nd.qr %t : (tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<2x2xf64>)
  // CHECK: nd.eigh %{{.*}} : (tensor<3x4x4xf64>) -> (tensor<3x4xf64>, tensor<3x4x4xf64>)
  %2:2 = nd.eigh %a : (tensor<3x4x4xf64>) -> (tensor<3x4xf64>, tensor<3x4x4xf64>)
  // CHECK: nd.svd %{{.*}} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<4x2xf32>)
  %3:3 = nd.svd %w : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<4x2xf32>)
  // CHECK: nd.solve %{{.*}}, %{{.*}} : (tensor<3x4x4xf64>, tensor<3x4x5xf64>) -> tensor<3x4x5xf64>
  %4 = nd.solve %a, %b : (tensor<3x4x4xf64>, tensor<3x4x5xf64>) -> tensor<3x4x5xf64>
  // CHECK: nd.triangular_solve upper %{{.*}}, %{{.*}} : (tensor<3x4x4xf64>, tensor<3x4x5xf64>) -> tensor<3x4x5xf64>
  %5 = nd.triangular_solve upper %a, %b : (tensor<3x4x4xf64>, tensor<3x4x5xf64>) -> tensor<3x4x5xf64>
  // CHECK: nd.log_det %{{.*}} : (tensor<3x4x4xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %6:2 = nd.log_det %a : (tensor<3x4x4xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  // CHECK: nd.fft inverse %{{.*}} : (tensor<4x2xf64>) -> tensor<4x2xf64>
  %7 = nd.fft inverse %t : (tensor<4x2xf64>) -> tensor<4x2xf64>
  return
}
