// RUN: %dyn-opt %s --dyn-batch-example -split-input-file | FileCheck %s

// A field is the rows of its arena that the batch names; code for one example works on all of them.
// CHECK-LABEL: dyn.objective @rows_of_the_batch
dyn.train @t {
  dyn.objective @rows_of_the_batch feed 0 batch 4 {
  ^bb0(%w: tensor<3xf32>):
    // CHECK: %[[ALL:.*]] = run.read arena 1 offset 0 "x" : tensor<10x3xf32>
    // CHECK: %[[ROWS:.*]] = run.rows feed 0 : tensor<4xi64>
    // CHECK: %[[X:.*]] = nd.gather %[[ALL]], %[[ROWS]]
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<3xf32, #dyn.axes<["example"]>>
    // CHECK: %[[W:.*]] = nd.broadcast %{{.*}} : tensor<3xf32> -> tensor<4x3xf32>
    // CHECK: nd.mul %[[X]], %[[W]] : tensor<4x3xf32>
    %p = nd.mul %x, %w : (tensor<3xf32, #dyn.axes<["example"]>>, tensor<3xf32>) -> tensor<3xf32, #dyn.axes<["example"]>>
    %s = nd.reduce sum %p dims [0] : tensor<3xf32, #dyn.axes<["example"]>> -> tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over sum %s axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
}

// -----
// A window over rows begins at the example's number: one gather of what the batch needs.
// CHECK-LABEL: dyn.objective @window
dyn.train @t {
  dyn.objective @window feed 0 batch 4 {
    %all = run.read arena 1 offset 0 "byte" : tensor<100xi64>
    // CHECK: %[[ROWS:.*]] = run.rows feed 0 : tensor<4xi64>
    // CHECK: nd.gather %{{.*}}, %[[ROWS]] dim 0 : (tensor<100xi64>, tensor<4xi64>) -> tensor<4xi64>
    %row = dyn.row feed 0 : tensor<i64, #dyn.axes<["example"]>>
    %x = nd.gather %all, %row dim 0 : (tensor<100xi64>, tensor<i64, #dyn.axes<["example"]>>) -> tensor<i64, #dyn.axes<["example"]>>
    // CHECK: nd.cast %{{.*}} : tensor<4xi64> -> tensor<4xf32>
    %y = nd.cast %x : tensor<i64, #dyn.axes<["example"]>> -> tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over sum %y axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
}

// -----
// A set that is one batch in its own order is read without a gather.
// CHECK-LABEL: dyn.objective @whole
// CHECK: run.read arena 1 offset 0 "x" : tensor<4xf32>
// CHECK-NOT: nd.gather
// CHECK: dyn.yield
dyn.train @t {
  dyn.objective @whole feed 0 batch 4 {
    %x = dyn.field "x" arena 1 rows 4 feed 0 whole : tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over sum %x axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
}

// -----
// Rows that a short last batch lacks count as the neutral element, and a mean divides by the rows that are there.
// CHECK-LABEL: dyn.objective @masked
// CHECK: %[[N:.*]] = run.count feed 0 : tensor<i64>
// CHECK: nd.compare lt
// CHECK: %[[PRESENT:.*]] = nd.select
// CHECK: %[[SUM:.*]] = nd.reduce sum %[[PRESENT]]
// CHECK: nd.div %[[SUM]], %{{.*}} : tensor<f32>
dyn.train @t {
  dyn.objective @masked feed 0 batch 4 masked {
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over mean %x axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
}

// -----
// Examples may meet in each pass of a loop: the reduction stands inside it, on the rows that are carried.
// CHECK-LABEL: dyn.objective @meets_in_a_loop
// CHECK: nd.scan
// CHECK: %[[MEAN:.*]] = nd.div
// CHECK: %[[WIDE:.*]] = nd.broadcast %[[MEAN]] {{.*}} : tensor<f32> -> tensor<4xf32>
// CHECK: nd.sub %{{.*}}, %[[WIDE]] : tensor<4xf32>
// CHECK-NOT: dyn.over
dyn.train @t {
  dyn.objective @meets_in_a_loop feed 0 batch 4 {
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<f32, #dyn.axes<["example"]>>
    %h = nd.scan inits(%x : tensor<f32, #dyn.axes<["example"]>>) xs() trip 50 {
    ^bb0(%i: tensor<i64>, %c: tensor<f32, #dyn.axes<["example"]>>):
      %m = dyn.over mean %c axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
      %d = nd.sub %c, %m : (tensor<f32, #dyn.axes<["example"]>>, tensor<f32>) -> tensor<f32, #dyn.axes<["example"]>>
      nd.yield %d : tensor<f32, #dyn.axes<["example"]>>
    } : tensor<f32, #dyn.axes<["example"]>>
    %l = dyn.over mean %h axis "example" : tensor<f32, #dyn.axes<["example"]>> -> tensor<f32>
    dyn.yield %l : tensor<f32>
  }
}

// -----
// What loading data gives is stored row by row, one value for all examples once a row.
// CHECK-LABEL: dyn.socket data @load
// CHECK: %[[INDEX:.*]] = nd.iota {{.*}} : tensor<4xi64>
// CHECK: run.write %[[INDEX]] arena 1 offset 0 "i" : tensor<4xi64>
// CHECK: %[[WIDE:.*]] = nd.broadcast %{{.*}} : tensor<f64> -> tensor<4xf64>
// CHECK: run.write %[[WIDE]] arena 2 offset 0 "c" : tensor<4xf64>
dyn.train @t {
  dyn.socket data @load feed -1 batch 4 {
    %i = dyn.index "example" : tensor<i64, #dyn.axes<["example"]>>
    dyn.store %i arena 1 offset 0 "i" : tensor<i64, #dyn.axes<["example"]>>
    %c = nd.constant dense<2.0> : tensor<f64>
    %v = dyn.vary %c : tensor<f64> -> tensor<f64, #dyn.axes<["example"]>>
    dyn.store %v arena 2 offset 0 "c" : tensor<f64, #dyn.axes<["example"]>>
  }
}
