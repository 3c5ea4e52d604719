// RUN: %dyn-opt %s --nd-batch="function=net args=1 size=8" --nd-batch="function=pick args=0,1 size=8" --nd-batch="function=counts args=0 size=8" --nd-batch="function=choose args=0 size=8" --canonicalize --cse | FileCheck %s

// Weights are shared, so the product gets one letter; nothing is repeated but the bias.
// CHECK-LABEL: func.func @net
// CHECK-SAME: %arg1: tensor<8x4xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: %[[P:.*]] = nd.contract %arg1, %arg0 "ak", "kj" -> "aj"
// CHECK-NEXT: nd.tanh %[[P]] : tensor<8x3xf32>
func.func @net(%w: tensor<4x3xf32>, %x: tensor<4xf32>) -> tensor<3xf32> {
  %0 = nd.contract %x, %w "k", "kj" -> "j" : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  %1 = nd.tanh %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Both batched: rows are laid one after the other, and an index out of range stays out of range.
// CHECK-LABEL: func.func @pick
// CHECK: %[[X:.*]] = nd.reshape %arg0 : tensor<8x10xf32> -> tensor<80xf32>
// CHECK: %[[I:.*]] = nd.select
// CHECK: nd.gather %[[X]], %[[I]] dim 0 : (tensor<80xf32>, tensor<8xi64>) -> tensor<8xf32>
func.func @pick(%x: tensor<10xf32>, %i: tensor<i64>) -> tensor<f32> {
  %0 = nd.gather %x, %i dim 0 : (tensor<10xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A counter stays one for all rows.
// CHECK-LABEL: func.func @counts
// CHECK: nd.scan inits(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<i64>)
func.func @counts(%x: tensor<f32>) -> (tensor<f32>, tensor<i64>) {
  %k = nd.constant dense<0> : tensor<i64>
  %one = nd.constant dense<1> : tensor<i64>
  %0:2 = nd.scan inits(%x, %k : tensor<f32>, tensor<i64>) xs() trip 3 {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>, %n: tensor<i64>):
    %t = nd.exp %s : tensor<f32>
    %m = nd.add %n, %one : tensor<i64>
    nd.yield %t, %m : tensor<f32>, tensor<i64>
  } : tensor<f32>, tensor<i64>
  return %0#0, %0#1 : tensor<f32>, tensor<i64>
}

// A condition a row: both sides, and each row keeps its own.
// CHECK-LABEL: func.func @choose
// CHECK-NOT: nd.cond
// CHECK: nd.select %arg0
func.func @choose(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = nd.cond %c then {
    %e = nd.exp %x : tensor<f32>
    nd.yield %e : tensor<f32>
  } else {
    nd.yield %x : tensor<f32>
  } : tensor<i1> -> tensor<f32>
  return %0 : tensor<f32>
}
