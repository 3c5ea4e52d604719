// RUN: %dyn-opt %s --nd-differentiate="function=dense wrt=0,1" --nd-differentiate="function=loop wrt=0,1" --nd-differentiate="function=moves wrt=0 forward=true" --canonicalize --cse | FileCheck %s

// The derivative of a product is a product of the same kind, without transposes; the bias gets a sum.
// CHECK-LABEL: func.func @dense
// CHECK-SAME: -> (tensor<f32>, tensor<4x3xf32>, tensor<3xf32>)
// CHECK: %[[T:.*]] = nd.tanh
// CHECK: %[[Q:.*]] = nd.mul %[[T]], %[[T]]
// CHECK: %[[D:.*]] = nd.sub %{{.*}}, %[[Q]]
// CHECK: %[[DB:.*]] = nd.reduce sum %[[D]] dims [0]
// CHECK: %[[DW:.*]] = nd.contract %[[D]], %arg2 "ij", "ik" -> "kj"
// CHECK: return %{{.*}}, %[[DW]], %[[DB]]
func.func @dense(%w: tensor<4x3xf32>, %b: tensor<3xf32>, %x: tensor<2x4xf32>) -> tensor<f32> {
  %0 = nd.contract %x, %w "ik", "kj" -> "ij" : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = nd.broadcast %b dims [1] : tensor<3xf32> -> tensor<2x3xf32>
  %2 = nd.add %0, %1 : tensor<2x3xf32>
  %3 = nd.tanh %2 : tensor<2x3xf32>
  %4 = nd.reduce sum %3 dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %4 : tensor<f32>
}

// The loop saves its carried value; the reverse loop carries the cotangent and sums that of the captured value.
// CHECK-LABEL: func.func @loop
// CHECK: %[[F:.*]]:2 = nd.scan inits(%arg0 : tensor<f32>) xs() trip 5 {
// CHECK: } : tensor<f32>, tensor<5xf32>
// CHECK: %[[R:.*]]:2 = nd.scan inits(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>) xs(%[[F]]#1 : tensor<5xf32>) trip 5 reverse {
// CHECK: return %[[F]]#0, %[[R]]#0, %[[R]]#1
func.func @loop(%a: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %0 = nd.scan inits(%a : tensor<f32>) xs() trip 5 {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    %t = nd.mul %s, %w : tensor<f32>
    nd.yield %t : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// Moving elements is linear: the tangent moves along.
// CHECK-LABEL: func.func @moves
// CHECK-SAME: %arg0: tensor<2x3xf32>, %[[T:.*]]: tensor<2x3xf32>)
// CHECK: nd.reshape %arg0
// CHECK: nd.reshape %[[T]]
func.func @moves(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = nd.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
