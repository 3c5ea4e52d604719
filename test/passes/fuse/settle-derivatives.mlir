// RUN: %dyn-opt %s --settle-derivatives | FileCheck %s

// Tests that a guarded factor is read once, and that the finiteness test goes with it.
// CHECK-LABEL: func.func @guard
// CHECK-SAME: (%[[G:.*]]: tensor<4xf32>, %[[F:.*]]: tensor<4xf32>)
// CHECK: %[[ZERO:.*]] = nd.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: %[[SOME:.*]] = nd.compare ne %[[G]], %[[ZERO]]
// CHECK: %[[PRODUCT:.*]] = nd.mul %[[G]], %[[F]]
// CHECK: %[[RESULT:.*]] = nd.select %[[SOME]], %[[PRODUCT]], %{{.*}}
// CHECK: return %[[RESULT]]
func.func @guard(%g: tensor<4xf32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nd.constant dense<0.0> : tensor<4xf32>
  %d = nd.sub %f, %f : tensor<4xf32>
  %finite = nd.compare eq %d, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %some = nd.compare ne %g, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %either = nd.or %some, %finite : tensor<4xi1>
  %factor = nd.select %either, %f, %zero : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = nd.mul %g, %factor : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Tests that a selection which guards another cotangent stays.
// CHECK-LABEL: func.func @other
// CHECK: nd.or
// CHECK: nd.select
// CHECK: nd.mul
func.func @other(%g: tensor<4xf32>, %h: tensor<4xf32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nd.constant dense<0.0> : tensor<4xf32>
  %d = nd.sub %f, %f : tensor<4xf32>
  %finite = nd.compare eq %d, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %some = nd.compare ne %h, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %either = nd.or %some, %finite : tensor<4xi1>
  %factor = nd.select %either, %f, %zero : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = nd.mul %g, %factor : tensor<4xf32>
  return %r : tensor<4xf32>
}

// Tests that stop_gradient is gone.
// CHECK-LABEL: func.func @stop
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @stop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = nd.stop_gradient %x : tensor<4xf32>
  return %s : tensor<4xf32>
}
