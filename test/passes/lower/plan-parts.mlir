// RUN: %dyn-opt %s --plan-memory --plan-parts=vector-bytes=32 | FileCheck %s
// RUN: %dyn-opt %s --plan-memory --plan-parts=vector-bytes=32 --lower-kernels=vector-bytes=32 | FileCheck %s --check-prefix=CODE

// Tests that parts are numbered from the program inwards, that an epilogue belongs to its product, that what is made
// where it goes is no copy, and that code of a part stands between its begin and its end.

// CHECK: module attributes {{{.*}}kernel.parts = [
// CHECK-SAME: {bytes = 0 : i64, flops = 0 : i64, kind = "program", parent = -1 : i64, shared = false, spec = [{{.*}}], what = "dyn_main"}
// CHECK-SAME: {bytes = 0 : i64, flops = 0 : i64, kind = "function", parent = 0 : i64, {{.*}}, what = "update"}
// Operands and result of the product, and the row of numbers that is added; 2 m n k, and an addition and tanh a number.
// CHECK-SAME: {bytes = 4640 : i64, flops = 15104 : i64, kind = "product", parent = 1 : i64, {{.*}}, what = "matmul 32 x 16 x 8, map [32, 8]: add, tanh"}
// CHECK-SAME: {bytes = 2048 : i64, flops = 0 : i64, kind = "copy", parent = 1 : i64, {{.*}}, what = "write once"}
// CHECK-SAME: {bytes = 4 : i64, flops = 0 : i64, kind = "metric", parent = 1 : i64, {{.*}}, what = "0"}]

// CHECK: func.func @unused()
// CHECK-NOT: part =
// CHECK: func.func @update() attributes {part = 1 : i64}
// CHECK: kernel.product {{.*}}part = 2 : i64
// CHECK: run.emit {{.*}}part = 4 : i64

// CODE-LABEL: llvm.func @update(
// CODE: llvm.call @dyn_part_begin(%arg0, %c1_i64
// CODE: llvm.call @dyn_part_begin(%arg0, %c2_i64
// CODE: llvm.call @product_0
// CODE: llvm.call @kernel_0
// CODE: llvm.call @dyn_part_end(%arg0, %c2_i64
// CODE: llvm.call @dyn_part_begin(%arg0, %c3_i64
// CODE: "llvm.intr.memcpy"
// CODE: llvm.call @dyn_part_end(%arg0, %c3_i64
// CODE: llvm.call @dyn_part_end(%arg0, %c1_i64
// CODE-NEXT: llvm.return
// CODE-LABEL: llvm.func @dyn_main(
// CODE: llvm.call @dyn_part_begin(%arg0, %c0_i64
// CODE: llvm.call @update
// CODE: llvm.call @dyn_part_end(%arg0, %c0_i64

func.func @unused() {
  %0 = run.read arena 0 offset 0 "a" : tensor<32x16xf32>
  run.write %0 arena 4 offset 0 "b" : tensor<32x16xf32>
  return
}
func.func @update() {
  %a = run.read arena 0 offset 0 "a" : tensor<32x16xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<16x8xf32>
  %c = run.read arena 2 offset 0 "c" : tensor<8xf32>
  %0 = kernel.product %a, %b : (tensor<32x16xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
  %1 = kernel.fused map [32, 8] epilogue(%0, %c) : (tensor<32x8xf32>, tensor<8xf32>) -> tensor<32x8xf32> {
  ^bb0(%x: tensor<32x8xf32>, %y: tensor<8xf32>):
    %2 = nd.broadcast %y dims [1] : tensor<8xf32> -> tensor<32x8xf32>
    %3 = nd.add %x, %2 : tensor<32x8xf32>
    %4 = nd.tanh %3 : tensor<32x8xf32>
    kernel.yield %4 : tensor<32x8xf32>
  }
  run.write %1 arena 3 offset 0 "once" : tensor<32x8xf32>
  run.write %1 arena 3 offset 256 "twice" : tensor<32x8xf32>
  %5 = nd.constant dense<1.0> : tensor<f32>
  run.emit %5 metric 0 : tensor<f32>
  return
}
run.program @dyn_main {
  run.call @update
}
