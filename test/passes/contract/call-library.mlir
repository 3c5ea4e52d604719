// RUN: %dyn-opt %s --call-library | FileCheck %s

// Tests that the call has the op's sizes as numbers, and its scratch memory as one more result.
// CHECK-LABEL: func.func @scratch
func.func @scratch(%x: tensor<3x8xf32>) -> tensor<3x8xi64> {
  // CHECK: %[[CALL:.*]]:2 = kernel.call "dyn_argsort" [3, 8, 1, 1, 0, 8](%{{.*}}) : (tensor<3x8xf32>) -> (tensor<3x8xi64>, tensor<256xi8>)
  // CHECK: return %[[CALL]]#0
  %p = nd.argsort %x dim 1 : (tensor<3x8xf32>) -> tensor<3x8xi64>
  return %p : tensor<3x8xi64>
}

// Tests that a call that may fail says so, and that one without scratch has no such result.
// CHECK-LABEL: func.func @fails
func.func @fails(%a: tensor<4x4xf64>) -> tensor<4x4xf64> {
  // CHECK: kernel.call "dyn_cholesky" [1, 4] fails(%{{.*}}) {site = 3 : i64} : (tensor<4x4xf64>) -> tensor<4x4xf64>
  %l = nd.cholesky %a {site = 3 : i64} : (tensor<4x4xf64>) -> tensor<4x4xf64>
  return %l : tensor<4x4xf64>
}

// Tests that a decomposition inside a loop becomes a call there.
// CHECK-LABEL: func.func @inside
func.func @inside(%a: tensor<5x4x4xf64>) -> tensor<5xf64> {
  // CHECK: nd.scan
  // CHECK: kernel.call "dyn_log_det" [1, 4](%{{.*}}) : (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>, tensor<144xi8>)
  %r = nd.scan inits() xs(%a : tensor<5x4x4xf64>) trip 5 {
  ^bb0(%i: tensor<i64>, %row: tensor<4x4xf64>):
    %s, %l = nd.log_det %row : (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>)
    nd.yield %l : tensor<f64>
  } : tensor<5xf64>
  return %r : tensor<5xf64>
}
