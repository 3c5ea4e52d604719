// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// Every op and every encoding of dyn prints as it is written.

#leaves = #dyn.leaves<[[2, 3], [2]]>
#tree = #dyn.tree<[[2, 3], [2]]>

// CHECK-LABEL: dyn.train @fit
dyn.train @fit {
  // CHECK: dyn.objective @loss feed 0 batch 4 masked
  dyn.objective @loss feed 0 batch 4 masked {
  ^bb0(%w: tensor<2x3xf32>, %b: tensor<2xf32>):
    // CHECK: dyn.field "x" arena 1 rows 10 feed 0 : tensor<3xf32, #dyn.axes<["example"]>>
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<3xf32, #dyn.axes<["example"]>>
    // CHECK: dyn.field "y" arena 2 rows 4 feed -1 whole : tensor<f32, #dyn.axes<["example"]>>
    %y = dyn.field "y" arena 2 rows 4 feed -1 whole : tensor<f32, #dyn.axes<["example"]>>
    // CHECK: dyn.row feed 0 : tensor<i64, #dyn.axes<["example"]>>
    %r = dyn.row feed 0 : tensor<i64, #dyn.axes<["example"]>>
    // CHECK: dyn.row feed -1 whole : tensor<i64, #dyn.axes<["example"]>>
    %s = dyn.row feed -1 whole : tensor<i64, #dyn.axes<["example"]>>
    // CHECK: dyn.index "example" : tensor<i64, #dyn.axes<["example"]>>
    %i = dyn.index "example" : tensor<i64, #dyn.axes<["example"]>>
    // CHECK: dyn.vary %{{.*}} : tensor<2xf32> -> tensor<2xf32, #dyn.axes<["example"]>>
    %v = dyn.vary %b : tensor<2xf32> -> tensor<2xf32, #dyn.axes<["example"]>>
    // CHECK: dyn.over max %{{.*}} axis "example" : tensor<2xf32, #dyn.axes<["example"]>> -> tensor<2xf32>
    %m = dyn.over max %v axis "example" : tensor<2xf32, #dyn.axes<["example"]>> -> tensor<2xf32>
    // CHECK: dyn.over count %{{.*}} axis "example" : tensor<i64, #dyn.axes<["example"]>> -> tensor<i64>
    %n = dyn.over count %i axis "example" : tensor<i64, #dyn.axes<["example"]>> -> tensor<i64>
    // CHECK: dyn.stack %{{.*}} axis "example" : tensor<2xf32, #dyn.axes<["example"]>> -> tensor<4x2xf32>
    %all = dyn.stack %v axis "example" : tensor<2xf32, #dyn.axes<["example"]>> -> tensor<4x2xf32>
    // CHECK: dyn.unstack %{{.*}} axis "label" : tensor<4x2xf32> -> tensor<2xf32, #dyn.axes<["label"]>>
    %each = dyn.unstack %all axis "label" : tensor<4x2xf32> -> tensor<2xf32, #dyn.axes<["label"]>>
    %present = nd.constant dense<true> : tensor<4xi1>
    // CHECK: dyn.elements "label" present %{{.*}} : tensor<4xi1>
    dyn.elements "label" present %present : tensor<4xi1>
    // CHECK: dyn.over mean %{{.*}} axis "example" : tensor<f32, #dyn.axes<["example", "task"]>> -> tensor<f32, #dyn.axes<["task"]>>
    %two = dyn.vary %y : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32, #dyn.axes<["example", "task"]>>
    %one = dyn.over mean %two axis "example" : tensor<f32, #dyn.axes<["example", "task"]>> -> tensor<f32, #dyn.axes<["task"]>>
    %loss = dyn.over sum %y axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    // CHECK: dyn.yield %{{.*}} : tensor<f32>
    dyn.yield %loss : tensor<f32>
  }
  // CHECK: dyn.socket update @update feed 0 batch 4 {
  dyn.socket update @update feed 0 batch 4 {
    %flat = run.read arena 0 offset 0 "params" : tensor<8xf32>
    // CHECK: dyn.recast %{{.*}} : tensor<8xf32> -> tensor<8xf32, #dyn.tree<{{\[\[}}2, 3], [2]]>>
    %tree = dyn.recast %flat : tensor<8xf32> -> tensor<8xf32, #tree>
    // CHECK: dyn.loss @loss at
    %loss = dyn.loss @loss at %tree : tensor<8xf32, #tree> -> tensor<f32>
    // CHECK: dyn.gradient @loss at
    %again, %grads = dyn.gradient @loss at %tree : tensor<8xf32, #tree> -> tensor<f32>, tensor<8xf32, #tree>
    %leaves = dyn.recast %grads : tensor<8xf32, #tree> -> tensor<8xf32, #leaves>
    // CHECK: dyn.leaf_reduce sum %{{.*}} -> tensor<2xf32, #dyn.per_leaf<2>>
    %sums = dyn.leaf_reduce sum %leaves : tensor<8xf32, #leaves> -> tensor<2xf32, #dyn.per_leaf<2>>
    // CHECK: dyn.leaf_spread %{{.*}} : tensor<2xf32, #dyn.per_leaf<2>> -> tensor<8xf32, #dyn.leaves<{{\[\[}}2, 3], [2]]>>
    %wide = dyn.leaf_spread %sums : tensor<2xf32, #dyn.per_leaf<2>> -> tensor<8xf32, #leaves>
  }
  // CHECK: dyn.socket data @load feed -1 batch 4 masked {
  dyn.socket data @load feed -1 batch 4 masked {
    %x = dyn.field "raw" arena 3 rows 4 feed -1 whole : tensor<3xf64, #dyn.axes<["example"]>>
    // CHECK: dyn.store %{{.*}} arena 1 offset 0 "x" : tensor<3xf64, #dyn.axes<["example"]>>
    dyn.store %x arena 1 offset 0 "x" : tensor<3xf64, #dyn.axes<["example"]>>
  }
}
