// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// The ordered world prints as it is written.

// CHECK-LABEL: func.func @step
func.func @step() {
  // CHECK: run.number 0 "adamw.lr" : tensor<f64>
  %lr = run.number 0 "adamw.lr" : tensor<f64>
  // CHECK: run.clock rows_base : tensor<i64>
  %t = run.clock rows_base : tensor<i64>
  // CHECK: run.read arena 0 offset 640 "net.W" : tensor<64x10xf32>
  %w = run.read arena 0 offset 640 "net.W" : tensor<64x10xf32>
  // CHECK: run.rows feed 0 : tensor<32xi64>
  %rows = run.rows feed 0 : tensor<32xi64>
  // CHECK: run.count feed 0 : tensor<i64>
  %n = run.count feed 0 : tensor<i64>
  // CHECK: run.write %{{.*}} arena 0 offset 640 "net.W" : tensor<64x10xf32>
  run.write %w arena 0 offset 640 "net.W" : tensor<64x10xf32>
  // CHECK: run.emit %{{.*}} metric 1 : tensor<f64>
  run.emit %lr metric 1 : tensor<f64>
  // CHECK: run.guard %{{.*}} site 2 "loss" : tensor<f64>
  run.guard %lr site 2 "loss" : tensor<f64>
  return
}

// CHECK-LABEL: run.program @dyn_main {
run.program @dyn_main {
  // CHECK: run.loop {
  run.loop {
    // CHECK: run.next_batch feed 0
    run.next_batch feed 0
    // CHECK: run.call @step
    run.call @step
    // CHECK: run.step_done
    run.step_done
    // CHECK: run.when_due event 1 {
    run.when_due event 1 {
      // CHECK: run.for_batches feed 1 {
      run.for_batches feed 1 {
        run.call @step
      }
    }
  }
}
