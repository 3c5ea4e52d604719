// RUN: %dyn-opt %s --launch-on-device | FileCheck %s
//
// Tests that a launch becomes a call of the runtime with the code's text, the kernel's name, sizes and addresses of the
// arguments.

// CHECK-DAG: llvm.mlir.global internal constant @kernels_code("text\00")
// CHECK-DAG: llvm.mlir.global internal constant @one_name("one\00")
// CHECK: llvm.func @run(%[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: f32)
// CHECK-DAG: %[[LIST:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.store %[[X]], %[[SLOT:[0-9]+]] {{.*}}: f32, !llvm.ptr
// CHECK: llvm.store %[[SLOT]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK: %[[CODE:.*]] = llvm.mlir.addressof @kernels_code
// CHECK: %[[NAME:.*]] = llvm.mlir.addressof @one_name
// CHECK: llvm.call @dyn_launch(%[[CTX]], %[[CODE]], %[[NAME]], %{{.*}}, %{{.*}}, %[[LIST]])
// CHECK-NOT: gpu.
module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90">, assembly = "text">]
  llvm.func @run(%context: !llvm.ptr, %x: f32) {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    gpu.launch_func @kernels::@one blocks in (%one, %one, %one) threads in (%four, %one, %one) args(%x : f32)
    llvm.return
  }
}
