// RUN: %dyn-opt %s --dyn-batch-example --split-input-file | FileCheck %s --check-prefix BATCH
// RUN: %dyn-opt %s --dyn-batch-example --dyn-expand-gradients --split-input-file | FileCheck %s --check-prefix EXPAND

// The objective of one of two parts reads half of the rows, from the part's first on; draws are those that the rows have in the
// whole batch.
// BATCH: dyn.objective @loss feed 0 batch 4
// BATCH: dyn.objective @loss_of_2_parts feed 0 batch 2
// BATCH: ^bb0(%{{.*}}: tensor<3xf32>, %[[PART:.*]]: tensor<i64>)
// BATCH: %[[FIRST:.*]] = nd.mul %[[PART]], %{{.*}} : tensor<i64>
// BATCH: %[[ROWS:.*]] = run.rows feed 0 : tensor<4xi64>
// BATCH: %[[PLACES:.*]] = nd.add %{{.*}}, %{{.*}} : tensor<2xi64>
// BATCH: %[[MINE:.*]] = nd.gather %[[ROWS]], %[[PLACES]]
// BATCH: nd.gather %{{.*}}, %[[MINE]] dim 0 : (tensor<10x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
// BATCH: nd.draw normal noise
// BATCH-SAME: -> tensor<2x3xf32>
// BATCH: dyn.part_gradients @loss_of_2_parts parts 2 {{.*}} -> tensor<2xf32>, tensor<2x3xf32>
// BATCH: nd.reduce sum {{.*}} dims [0] : tensor<2x3xf32> -> tensor<3xf32>

// EXPAND-NOT: dyn.objective
// EXPAND: nd.scan inits() xs() trip 2
// EXPAND: nd.gather
// EXPAND: nd.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<3xf32>
// EXPAND: : tensor<2xf32>, tensor<2x3xf32>
dyn.train @t {
  dyn.objective @loss feed 0 batch 4 {
  ^bb0(%w: tensor<3xf32>):
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<3xf32, #dyn.axes<["example"]>>
    %counter = nd.constant dense<0> : tensor<4xi64>
    %base = nd.constant dense<0> : tensor<i64>
    %z = nd.draw normal noise %counter, %base site 7 : (tensor<4xi64>, tensor<i64>) -> tensor<3xf32, #dyn.axes<["example"]>>
    %y = nd.add %x, %z : (tensor<3xf32, #dyn.axes<["example"]>>, tensor<3xf32, #dyn.axes<["example"]>>) -> tensor<3xf32, #dyn.axes<["example"]>>
    %p = nd.mul %y, %w : (tensor<3xf32, #dyn.axes<["example"]>>, tensor<3xf32>) -> tensor<3xf32, #dyn.axes<["example"]>>
    %s = nd.reduce sum %p dims [0] : tensor<3xf32, #dyn.axes<["example"]>> -> tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over mean %s axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
  dyn.socket update @update feed -1 batch 1 {
    %flat = run.read arena 0 offset 0 "params" : tensor<3xf32>
    %tree = dyn.recast %flat : tensor<3xf32> -> tensor<3xf32, #dyn.tree<[[3]]>>
    %losses, %g = dyn.part_gradients @loss parts 2 at %tree : tensor<3xf32, #dyn.tree<[[3]]>> -> tensor<f32, #dyn.axes<["part"]>>, tensor<3xf32, #dyn.axes<["part"], #dyn.tree<[[3]]>>>
    %sum = dyn.over sum %g axis "part" : tensor<3xf32, #dyn.axes<["part"], #dyn.tree<[[3]]>>> -> tensor<3xf32, #dyn.tree<[[3]]>>
    %plain = dyn.recast %sum : tensor<3xf32, #dyn.tree<[[3]]>> -> tensor<3xf32>
    run.write %plain arena 0 offset 0 "params" : tensor<3xf32>
  }
}
