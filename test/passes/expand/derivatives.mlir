// RUN: %dyn-opt %s --dyn-expand-gradients -split-input-file -verify-diagnostics | FileCheck %s

// sum x^2 has the gradient x + x. The point is a value of its own: what the function takes from outside is constant,
// though it is the same array.
// CHECK-LABEL: dyn.socket update @reverse
// CHECK: %[[X:.*]] = run.read
// CHECK: %[[ONE:.*]] = nd.constant dense<1.0
// CHECK: %[[AT:.*]] = dyn.recast %[[X]]
// CHECK: nd.mul %[[AT]], %[[AT]]
// CHECK: %[[WIDE:.*]] = nd.broadcast %[[ONE]]
// CHECK: %[[A:.*]] = nd.mul %[[WIDE]], %[[AT]]
// CHECK: %[[B:.*]] = nd.mul %[[WIDE]], %[[AT]]
// CHECK: %[[G:.*]] = nd.add %[[A]], %[[B]]
// CHECK: run.write %[[G]]
dyn.train @t {
  dyn.socket update @reverse feed -1 batch 0 {
    %x = run.read arena 0 offset 0 "x" : tensor<2xf64>
    %one = nd.constant dense<1.0> : tensor<f64>
    %f:2 = dyn.derivative reverse at %x along %one {
    ^bb0(%y: tensor<2xf64>):
      %p = nd.mul %y, %y : tensor<2xf64>
      %s = nd.reduce sum %p dims [0] : tensor<2xf64> -> tensor<f64>
      dyn.yield %s : tensor<f64>
    } : (tensor<2xf64>, tensor<f64>) -> (tensor<f64>, tensor<2xf64>)
    run.write %f#1 arena 0 offset 0 "x" : tensor<2xf64>
  }
}

// -----

// A Jacobian is one sweep, batched over unit vectors: for as many arguments as values forwards.
// CHECK-LABEL: dyn.socket update @jacobian
// CHECK: nd.compare eq
// CHECK: %[[UNITS:.*]] = nd.reshape %{{.*}} -> tensor<2x2xf64>
// CHECK-NOT: dyn.derivative
// CHECK: run.write %{{.*}} : tensor<2x2xf64>
dyn.train @t {
  dyn.socket update @jacobian feed -1 batch 0 {
    %x = run.read arena 0 offset 0 "x" : tensor<2xf64>
    %f:2 = dyn.derivative jacobian at %x {
    ^bb0(%y: tensor<2xf64>):
      %e = nd.exp %y : tensor<2xf64>
      dyn.yield %e : tensor<2xf64>
    } : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2x2xf64>)
    run.write %f#1 arena 0 offset 0 "x" : tensor<2x2xf64>
  }
}

// -----

// What has a `backward` is differentiated by it, and is the function alone afterwards.
// CHECK-LABEL: dyn.socket update @own
// CHECK: %[[ONE:.*]] = nd.constant dense<1.0
// CHECK: nd.round
// CHECK: %[[SEVEN:.*]] = nd.constant dense<7.0
// CHECK: %[[G:.*]] = nd.mul %[[ONE]], %[[SEVEN]]
// CHECK: run.write %[[G]]
dyn.train @t {
  dyn.socket update @own feed -1 batch 0 {
    %x = run.read arena 0 offset 0 "x" : tensor<f64>
    %one = nd.constant dense<1.0> : tensor<f64>
    %f:2 = dyn.derivative reverse at %x along %one {
    ^bb0(%y: tensor<f64>):
      %r = dyn.with_backward %y {
      ^bb0(%z: tensor<f64>):
        %whole = nd.round %z : tensor<f64>
        dyn.yield %whole : tensor<f64>
      } backward {
      ^bb0(%z: tensor<f64>, %u: tensor<f64>):
        %seven = nd.constant dense<7.0> : tensor<f64>
        %v = nd.mul %u, %seven : tensor<f64>
        dyn.yield %v : tensor<f64>
      } : (tensor<f64>) -> tensor<f64>
      dyn.yield %r : tensor<f64>
    } : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
    run.write %f#1 arena 0 offset 0 "x" : tensor<f64>
  }
}

// -----

dyn.train @t {
  dyn.socket update @flat feed -1 batch 0 {
    %x = run.read arena 0 offset 0 "x" : tensor<f64>
    %one = nd.constant dense<1.0> : tensor<f64>
    %f:2 = dyn.derivative reverse at %x along %one {
    ^bb0(%y: tensor<f64>):
      // expected-error@+1 {{no derivative here: its result is flat}}
      %r = nd.floor %y : tensor<f64>
      dyn.yield %r : tensor<f64>
    } : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
    run.write %f#1 arena 0 offset 0 "x" : tensor<f64>
  }
}
