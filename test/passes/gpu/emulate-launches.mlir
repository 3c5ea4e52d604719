// RUN: %dyn-opt %s --emulate-launches --split-input-file --verify-diagnostics | FileCheck %s
//
// Tests that a kernel becomes a loop over blocks around one loop over threads for each stretch between barriers, that
// what a thread keeps across a barrier has a slot for each thread, and that a barrier in a branch is refused.

// CHECK-LABEL: llvm.func @run
// CHECK: llvm.call @swap(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64) -> ()
// CHECK: llvm.func internal @swap(%[[P:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: %[[SLOTS:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     llvm.load %[[P]]
// CHECK:     llvm.getelementptr %[[SLOTS]]
// CHECK:     llvm.store
// CHECK:   scf.for
// CHECK:     llvm.getelementptr %[[SLOTS]]
// CHECK:     llvm.load
// CHECK:     arith.addf
// CHECK-NOT: gpu
module attributes {gpu.container_module} {
  llvm.func @run(%p: !llvm.ptr) {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    gpu.launch_func @kernels::@swap blocks in (%one, %one, %one) threads in (%four, %one, %one) args(%p : !llvm.ptr)
    llvm.return
  }
  gpu.module @kernels {
    gpu.func @swap(%p: !llvm.ptr) workgroup(%shared: memref<4xf32, #gpu.address_space<workgroup>>) kernel
        attributes {known_block_size = array<i32: 4, 1, 1>} {
      %t = gpu.thread_id x
      %x = llvm.load %p : !llvm.ptr -> f32
      memref.store %x, %shared[%t] : memref<4xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %zero = arith.constant 0 : index
      %y = memref.load %shared[%zero] : memref<4xf32, #gpu.address_space<workgroup>>
      %z = arith.addf %x, %y : f32
      llvm.store %z, %p : f32, !llvm.ptr
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @branch(%c: i1) kernel {
      // expected-error @below {{a barrier inside of a loop or a branch cannot be emulated}}
      scf.if %c {
        gpu.barrier
      }
      gpu.return
    }
  }
}
