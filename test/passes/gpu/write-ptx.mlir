// RUN: %dyn-opt %s --write-ptx=chip=sm_90 | FileCheck %s
//
// Tests that a module of kernels becomes text for the chip, with a product and a sum rounded apart.

// CHECK: gpu.binary @kernels
// CHECK-SAME: chip = "sm_90"
// CHECK-SAME: .visible .entry axpy(
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @axpy(%a: f32, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = llvm.fmul %a, %x : f32
      %z = llvm.fadd %y, %x : f32
      llvm.store %z, %p : f32, !llvm.ptr
      llvm.return
    }
  }
}
