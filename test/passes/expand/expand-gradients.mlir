// RUN: %dyn-opt %s --dyn-expand-gradients -split-input-file -verify-diagnostics | FileCheck %s

// A loss is a copy of the objective's body at the leaves of the tree, wherever it stands; no objective is left.
// CHECK-LABEL: dyn.socket update @loss_at_a_tree
// CHECK: %[[FLAT:.*]] = dyn.recast %{{.*}} -> tensor<5xf32>
// CHECK: %[[A:.*]] = nd.slice %[[FLAT]] offsets [0] sizes [3]
// CHECK: %[[B:.*]] = nd.slice %[[FLAT]] offsets [3] sizes [2]
// CHECK: nd.add
// CHECK-NOT: dyn.loss
// CHECK-NOT: dyn.objective
#tree = #dyn.tree<[[3], [2]]>
dyn.train @t {
  dyn.objective @loss feed -1 batch 1 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<2xf32>):
    %x = nd.reduce sum %a dims [0] : tensor<3xf32> -> tensor<f32>
    %y = nd.reduce sum %b dims [0] : tensor<2xf32> -> tensor<f32>
    %l = nd.add %x, %y : tensor<f32>
    dyn.yield %l : tensor<f32>
  }
  dyn.socket update @loss_at_a_tree feed -1 batch 1 {
    %flat = run.read arena 0 offset 0 "params" : tensor<5xf32>
    %tree = dyn.recast %flat : tensor<5xf32> -> tensor<5xf32, #tree>
    %loss = dyn.loss @loss at %tree : tensor<5xf32, #tree> -> tensor<f32>
    run.emit %loss metric 0 : tensor<f32>
  }
}

// -----
// The parts of a gradient are joined to one flat tree in the order of the leaves.
// CHECK-LABEL: dyn.socket update @gradient_of_two_leaves
// CHECK: %[[JOINED:.*]] = nd.concat {{.*}} -> tensor<5xf32>
// CHECK: dyn.recast %[[JOINED]] : tensor<5xf32> -> tensor<5xf32, #dyn.tree
// CHECK-NOT: dyn.gradient
#tree = #dyn.tree<[[3], [2]]>
dyn.train @t {
  dyn.objective @loss feed -1 batch 1 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<2xf32>):
    %s = nd.mul %a, %a : tensor<3xf32>
    %x = nd.reduce sum %s dims [0] : tensor<3xf32> -> tensor<f32>
    %y = nd.reduce sum %b dims [0] : tensor<2xf32> -> tensor<f32>
    %l = nd.add %x, %y : tensor<f32>
    dyn.yield %l : tensor<f32>
  }
  dyn.socket update @gradient_of_two_leaves feed -1 batch 1 {
    %flat = run.read arena 0 offset 0 "params" : tensor<5xf32>
    %tree = dyn.recast %flat : tensor<5xf32> -> tensor<5xf32, #tree>
    %loss, %grads = dyn.gradient @loss at %tree : tensor<5xf32, #tree> -> tensor<f32>, tensor<5xf32, #tree>
    %g = dyn.recast %grads : tensor<5xf32, #tree> -> tensor<5xf32>
    run.write %g arena 1 offset 0 "g" : tensor<5xf32>
  }
}

// -----
// A parameter on which the loss does not depend is refused, since its derivative would be zero in silence.
#tree = #dyn.tree<[[3], [2]]>
dyn.train @t {
  dyn.objective @loss feed -1 batch 1 attributes {paths = ["net.a", "net.b"]} {
  // expected-error @+1 {{the loss does not depend on `net.b`: its derivative is zero everywhere}}
  ^bb0(%a: tensor<3xf32>, %b: tensor<2xf32>):
    %x = nd.reduce sum %a dims [0] : tensor<3xf32> -> tensor<f32>
    dyn.yield %x : tensor<f32>
  }
  dyn.socket update @update feed -1 batch 1 {
    %flat = run.read arena 0 offset 0 "params" : tensor<5xf32>
    %tree = dyn.recast %flat : tensor<5xf32> -> tensor<5xf32, #tree>
    %loss, %grads = dyn.gradient @loss at %tree : tensor<5xf32, #tree> -> tensor<f32>, tensor<5xf32, #tree>
  }
}
