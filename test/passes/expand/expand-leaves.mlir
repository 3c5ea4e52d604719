// RUN: %dyn-opt %s --dyn-expand-leaves -split-input-file | FileCheck %s

#leaves = #dyn.leaves<[[2, 3], [2]]>

// A reduction of a leaf-wise value is segmented by its leaves, and a number a leaf is spread over them.
// CHECK-LABEL: func.func @within_leaves()
// CHECK: %[[X:.*]] = run.read arena 0 offset 0 "params" : tensor<8xf32>
// CHECK: %[[S:.*]] = nd.segment_reduce sum %[[X]] offsets [0, 6, 8] : tensor<8xf32> -> tensor<2xf32>
// CHECK: %[[W:.*]] = nd.segment_spread %[[S]] offsets [0, 6, 8] : tensor<2xf32> -> tensor<8xf32>
// CHECK: run.write %[[W]] arena 0 offset 0 "params" : tensor<8xf32>
// CHECK: return
dyn.train @t {
  dyn.socket update @within_leaves feed -1 batch 1 {
    %flat = run.read arena 0 offset 0 "params" : tensor<8xf32>
    %x = dyn.recast %flat : tensor<8xf32> -> tensor<8xf32, #leaves>
    %s = dyn.leaf_reduce sum %x : tensor<8xf32, #leaves> -> tensor<2xf32, #dyn.per_leaf<2>>
    %w = dyn.leaf_spread %s : tensor<2xf32, #dyn.per_leaf<2>> -> tensor<8xf32, #leaves>
    %out = dyn.recast %w : tensor<8xf32, #leaves> -> tensor<8xf32>
    run.write %out arena 0 offset 0 "params" : tensor<8xf32>
  }
}

// -----
// Constants and carried values lose their encodings too.
// CHECK-LABEL: func.func @everywhere()
// CHECK-NOT: #dyn
// CHECK: return
#leaves = #dyn.leaves<[[2]]>
dyn.train @t {
  dyn.socket update @everywhere feed -1 batch 1 {
    %zero = nd.constant dense<0.0> : tensor<2xf32, #leaves>
    %sum = nd.scan inits(%zero : tensor<2xf32, #leaves>) xs() trip 20 {
    ^bb0(%i: tensor<i64>, %c: tensor<2xf32, #leaves>):
      %d = nd.add %c, %zero : tensor<2xf32, #leaves>
      nd.yield %d : tensor<2xf32, #leaves>
    } : tensor<2xf32, #leaves>
    %out = dyn.recast %sum : tensor<2xf32, #leaves> -> tensor<2xf32>
    run.write %out arena 0 offset 0 "params" : tensor<2xf32>
  }
}

// -----
// The program of a train stands beside its sockets, and the train is gone.
// CHECK-NOT: dyn.train
// CHECK: func.func @init()
// CHECK: run.program @dyn_main
// CHECK: run.call @init
dyn.train @t {
  dyn.socket init @init feed -1 batch 1 {
  }
  run.program @dyn_main {
    run.call @init
  }
}
