// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// Ops with shape rules and regions print as they are written.

// CHECK-LABEL: @sources
func.func @sources(%counter: tensor<4xi64>, %base: tensor<i64>) {
  // CHECK: nd.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = nd.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: nd.iota dim 1 : tensor<4x8xi64>
  %1 = nd.iota dim 1 : tensor<4x8xi64>
  // CHECK: nd.draw normal noise %{{.*}}, %{{.*}} site 3 : (tensor<4xi64>, tensor<i64>) -> tensor<8xf32>
  %2 = nd.draw normal noise %counter, %base site 3 : (tensor<4xi64>, tensor<i64>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @shapes
func.func @shapes(%x: tensor<8x4xf32>) {
  // CHECK: nd.broadcast %{{.*}} dims [1, 2] : tensor<8x4xf32> -> tensor<3x8x4xf32>
  %0 = nd.broadcast %x dims [1, 2] : tensor<8x4xf32> -> tensor<3x8x4xf32>
  // CHECK: nd.reshape %{{.*}} : tensor<8x4xf32> -> tensor<32xf32>
  %1 = nd.reshape %x : tensor<8x4xf32> -> tensor<32xf32>
  // CHECK: nd.transpose %{{.*}} perm [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %2 = nd.transpose %x perm [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  // CHECK: nd.slice %{{.*}} offsets [0, 1] sizes [4, 2] strides [2, 1] : tensor<8x4xf32> -> tensor<4x2xf32>
  %3 = nd.slice %x offsets [0, 1] sizes [4, 2] strides [2, 1] : tensor<8x4xf32> -> tensor<4x2xf32>
  // CHECK: nd.pad %{{.*}} low [1, 0] high [0, 2] : tensor<8x4xf32> -> tensor<9x6xf32>
  %4 = nd.pad %x low [1, 0] high [0, 2] : tensor<8x4xf32> -> tensor<9x6xf32>
  // CHECK: nd.concat %{{.*}}, %{{.*}} dim 0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %5 = nd.concat %x, %x dim 0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  return
}

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<10x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) {
  // CHECK: nd.gather %{{.*}}, %{{.*}} dim 0 : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %0 = nd.gather %x, %i dim 0 : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  // CHECK: nd.scatter add %{{.*}}, %{{.*}}, %{{.*}} dim 0 : (tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<10x4xf32>
  %1 = nd.scatter add %x, %i, %u dim 0 : (tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<10x4xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<8x4xf32>, %y: tensor<6xf32>) {
  // CHECK: nd.reduce sum %{{.*}} dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %0 = nd.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  // CHECK: nd.arg_reduce max %{{.*}} dim 1 : tensor<8x4xf32> -> tensor<8xi64>
  %1 = nd.arg_reduce max %x dim 1 : tensor<8x4xf32> -> tensor<8xi64>
  // CHECK: nd.contract %{{.*}}, %{{.*}} "ik", "jk" -> "ij" : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %2 = nd.contract %x, %x "ik", "jk" -> "ij" : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  // CHECK: nd.segment_reduce max %{{.*}} offsets [0, 2, 6] : tensor<6xf32> -> tensor<2xf32>
  %3 = nd.segment_reduce max %y offsets [0, 2, 6] : tensor<6xf32> -> tensor<2xf32>
  // CHECK: nd.segment_spread %{{.*}} offsets [0, 2, 6] : tensor<2xf32> -> tensor<6xf32>
  %4 = nd.segment_spread %3 offsets [0, 2, 6] : tensor<2xf32> -> tensor<6xf32>
  // CHECK: nd.cumulate prod %{{.*}} dim 1 : tensor<8x4xf32> -> tensor<8x4xf32>
  %5 = nd.cumulate prod %x dim 1 : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @regions
func.func @regions(%a: tensor<f32>, %x: tensor<10x4xf32>, %c: tensor<i1>) {
  // CHECK: nd.scan inits(%{{.*}} : tensor<f32>) xs(%{{.*}} : tensor<10x4xf32>) trip 10 reverse {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<4xf32>):
  // CHECK: nd.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<4xf32>
  // CHECK-NEXT: } : tensor<f32>, tensor<10x4xf32>
  %0:2 = nd.scan inits(%a : tensor<f32>) xs(%x : tensor<10x4xf32>) trip 10 reverse {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>, %row: tensor<4xf32>):
    %t = nd.mul %s, %a : tensor<f32>
    nd.yield %t, %row : tensor<f32>, tensor<4xf32>
  } : tensor<f32>, tensor<10x4xf32>
  // CHECK: nd.scan inits() xs() trip 0 {
  nd.scan inits() xs() trip 0 {
  ^bb0(%i: tensor<i64>):
    nd.yield
  }
  // CHECK: nd.while inits(%{{.*}} : tensor<f32>) limit 100 cond {
  // CHECK: } body {
  // CHECK: } : tensor<f32>, tensor<i64>
  %1:2 = nd.while inits(%a : tensor<f32>) limit 100 cond {
  ^bb0(%s: tensor<f32>):
    nd.yield %c : tensor<i1>
  } body {
  ^bb0(%s: tensor<f32>):
    nd.yield %a : tensor<f32>
  } : tensor<f32>, tensor<i64>
  // CHECK: nd.cond %{{.*}} then {
  // CHECK: } else {
  // CHECK: } : tensor<i1> -> tensor<f32>
  %2 = nd.cond %c then {
    nd.yield %a : tensor<f32>
  } else {
    %n = nd.neg %a : tensor<f32>
    nd.yield %n : tensor<f32>
  } : tensor<i1> -> tensor<f32>
  return
}
