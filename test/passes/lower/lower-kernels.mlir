// RUN: %dyn-opt %s --fuse-kernels --plan-memory --lower-kernels=vector-bytes=32 | FileCheck %s

// Tests that a failure ends the function, and that equal loops are one function.
// CHECK-LABEL: llvm.func @step
// CHECK-SAME: (%[[CONTEXT:.*]]: !llvm.ptr)
// CHECK: llvm.call @kernel_0
// CHECK: cf.cond_br
// CHECK: llvm.call @dyn_fail
// CHECK-NEXT: llvm.return
// CHECK: llvm.call @kernel_0

// Tests that a loop goes over whole vectors, and ends with the same code under a mask; it stores
// 5 elements as 4 and 1.
// CHECK-LABEL: llvm.func internal @kernel_0
// CHECK-SAME: (%[[CLOSURE:.*]]: !llvm.ptr, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: llvm.store
// CHECK: scf.if
// CHECK: llvm.intr.masked.load
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT: llvm.intr.masked.store
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// CHECK: llvm.store {{.*}} : vector<1xf32>, !llvm.ptr
// CHECK-NOT: llvm.func internal
func.func @step() {
  %a = run.read arena 0 offset 0 "a" : tensor<101xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<101xf32>
  %s = run.read arena 1 offset 0 "s" : tensor<f32>
  %c = run.read arena 4 offset 0 "c" : tensor<101xf32>
  %x = nd.add %a, %b : tensor<101xf32>
  run.write %x arena 2 offset 0 "x" : tensor<101xf32>
  run.guard %s site 0 "s" : tensor<f32>
  %y = nd.add %b, %c : tensor<101xf32>
  run.write %y arena 3 offset 0 "y" : tensor<101xf32>
  return
}

// Tests that the program is a loop of calls, each of which can end it.
// CHECK-LABEL: llvm.func @dyn_main
// CHECK: scf.while
// CHECK: llvm.call @dyn_loop_next
// CHECK: llvm.call @dyn_next_batch
// CHECK: llvm.call @step
// CHECK: scf.if
// CHECK: llvm.call @dyn_step_done
// CHECK: llvm.call @dyn_due
run.program @dyn_main {
  run.loop {
    run.next_batch feed 0
    run.call @step
    run.step_done
    run.when_due event 0 { run.call @step }
  }
}
