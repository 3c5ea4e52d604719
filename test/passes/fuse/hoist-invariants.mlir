// RUN: %dyn-opt %s --hoist-invariants | FileCheck %s

// A product with what was read goes in front of the loop, with the broadcast that it reads; inside stands a copy of the
// broadcast for the sum, and a multiplication by it, which is not worth an array.
// CHECK-LABEL: @products
// CHECK: run.read arena 0
// CHECK: nd.broadcast
// CHECK: %[[P:.*]] = nd.contract
// CHECK: nd.scan
// CHECK: %[[B:.*]] = nd.broadcast
// CHECK: %[[M:.*]] = nd.mul %{{.*}}, %[[B]]
// CHECK: %[[S:.*]] = nd.add %{{.*}}, %[[P]]
// CHECK: %[[T:.*]] = nd.add %[[S]], %[[M]]
// CHECK: nd.yield %[[T]]
func.func @products(%v: tensor<4xf64>, %s: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = nd.scan inits(%s : tensor<4x4xf64>) xs() trip 20 {
  ^bb0(%i: tensor<i64>, %c: tensor<4x4xf64>):
    %a = run.read arena 0 offset 0 "A" : tensor<4x4xf64>
    %wide = nd.broadcast %v dims [1] : tensor<4xf64> -> tensor<4x4xf64>
    %p = nd.contract %a, %wide "ik", "kj" -> "ij" : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %m = nd.mul %a, %wide : tensor<4x4xf64>
    %sum = nd.add %c, %p : tensor<4x4xf64>
    %t = nd.add %sum, %m : tensor<4x4xf64>
    nd.yield %t : tensor<4x4xf64>
  } : tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// Not what reads the pass or what it carries, nor anything of a loop without passes.
// CHECK-LABEL: @varying
// CHECK-NOT: nd.exp
// CHECK: nd.scan
// CHECK: nd.exp
// CHECK: nd.sin
// CHECK: nd.scan
// CHECK: nd.exp
func.func @varying(%v: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = nd.scan inits(%v : tensor<4xf64>) xs() trip 3 {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf64>):
    %e = nd.exp %c : tensor<4xf64>
    %s = nd.sin %e : tensor<4xf64>
    nd.yield %s : tensor<4xf64>
  } : tensor<4xf64>
  %1 = nd.scan inits(%v : tensor<4xf64>) xs() trip 0 {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf64>):
    %e = nd.exp %v : tensor<4xf64>
    nd.yield %e : tensor<4xf64>
  } : tensor<4xf64>
  return %0, %1 : tensor<4xf64>, tensor<4xf64>
}

// Out of two loops at once, inner ones first; an array of 32 MiB stays where it is.
// CHECK-LABEL: @nested
// CHECK: nd.exp %{{.*}} : tensor<4xf64>
// CHECK: nd.scan
// CHECK: nd.scan
// CHECK: nd.exp %{{.*}} : tensor<4194304xf64>
func.func @nested(%v: tensor<4xf64>, %w: tensor<4194304xf64>) -> tensor<f64> {
  %z = nd.constant dense<0.0> : tensor<f64>
  %0 = nd.scan inits(%z : tensor<f64>) xs() trip 3 {
  ^bb0(%i: tensor<i64>, %c: tensor<f64>):
    %1 = nd.scan inits(%c : tensor<f64>) xs() trip 3 {
    ^bb0(%j: tensor<i64>, %d: tensor<f64>):
      %e = nd.exp %v : tensor<4xf64>
      %f = nd.reduce sum %e dims [0] : tensor<4xf64> -> tensor<f64>
      %g = nd.exp %w : tensor<4194304xf64>
      %big = nd.broadcast %d dims [] : tensor<f64> -> tensor<4194304xf64>
      %h = nd.mul %g, %big : tensor<4194304xf64>
      %k = nd.reduce sum %h dims [0] : tensor<4194304xf64> -> tensor<f64>
      %s = nd.add %f, %k : tensor<f64>
      nd.yield %s : tensor<f64>
    } : tensor<f64>
    nd.yield %1 : tensor<f64>
  } : tensor<f64>
  return %0 : tensor<f64>
}
