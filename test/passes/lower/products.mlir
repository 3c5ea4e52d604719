// RUN: %dyn-opt %s --normalize-contractions --fuse-kernels --plan-memory --lower-kernels=vector-bytes=32 | FileCheck %s
// RUN: %dyn-run-nd %s --check=4e-6
// RUN: %dyn-run-nd %s --check=4e-6 --cpu=x86-64

// Tests that small products are functions of their own: sums in registers, steps of k four a pass, A transposed read by
// rows, B transposed by squares in registers, ragged columns stored as pieces. dyn-run-nd compares every form and kind of
// edge with the evaluator, also with vectors of 4 and no multiply-add; the bound is 32 roundings of f32 in sums of up to 37 terms.
// CHECK: llvm.func internal @product_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[C:.*]]: !llvm.ptr)
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-48: llvm.intr.fmuladd
// CHECK: scf.yield
// CHECK: llvm.store {{.*}} : vector<8xf32>, !llvm.ptr
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr
// CHECK: llvm.func internal @product_1
// CHECK: llvm.alloca
// CHECK: vector.shuffle

func.func @product_f32_1x32x10x32() {
  %a = run.read arena 0 offset 0 "a" : tensor<32x32xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<32x10xf32>
  %c = nd.contract %a, %b "ik", "kj" -> "ij" : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
  run.write %c arena 2 offset 0 "c" : tensor<32x10xf32>
  return
}

func.func @product_f32_1x33x17x21() {
  %a = run.read arena 3 offset 0 "a" : tensor<33x21xf32>
  %b = run.read arena 4 offset 0 "b" : tensor<17x21xf32>
  %c = nd.contract %a, %b "ik", "jk" -> "ij" : (tensor<33x21xf32>, tensor<17x21xf32>) -> tensor<33x17xf32>
  run.write %c arena 5 offset 0 "c" : tensor<33x17xf32>
  return
}

func.func @product_f32_1x19x40x16() {
  %a = run.read arena 6 offset 0 "a" : tensor<16x19xf32>
  %b = run.read arena 7 offset 0 "b" : tensor<16x40xf32>
  %c = nd.contract %a, %b "ki", "kj" -> "ij" : (tensor<16x19xf32>, tensor<16x40xf32>) -> tensor<19x40xf32>
  run.write %c arena 8 offset 0 "c" : tensor<19x40xf32>
  return
}

func.func @product_f32_1x13x7x37() {
  %a = run.read arena 9 offset 0 "a" : tensor<37x13xf32>
  %b = run.read arena 10 offset 0 "b" : tensor<7x37xf32>
  %c = nd.contract %a, %b "ki", "jk" -> "ij" : (tensor<37x13xf32>, tensor<7x37xf32>) -> tensor<13x7xf32>
  run.write %c arena 11 offset 0 "c" : tensor<13x7xf32>
  return
}

func.func @product_f32_3x9x11x18() {
  %a = run.read arena 12 offset 0 "a" : tensor<3x9x18xf32>
  %b = run.read arena 13 offset 0 "b" : tensor<3x11x18xf32>
  %c = nd.contract %a, %b "bik", "bjk" -> "bij" : (tensor<3x9x18xf32>, tensor<3x11x18xf32>) -> tensor<3x9x11xf32>
  run.write %c arena 14 offset 0 "c" : tensor<3x9x11xf32>
  return
}

func.func @product_f64_1x14x13x19() {
  %a = run.read arena 15 offset 0 "a" : tensor<14x19xf64>
  %b = run.read arena 16 offset 0 "b" : tensor<19x13xf64>
  %c = nd.contract %a, %b "ik", "kj" -> "ij" : (tensor<14x19xf64>, tensor<19x13xf64>) -> tensor<14x13xf64>
  run.write %c arena 17 offset 0 "c" : tensor<14x13xf64>
  return
}

func.func @product_f64_2x7x5x23() {
  %a = run.read arena 18 offset 0 "a" : tensor<2x23x7xf64>
  %b = run.read arena 19 offset 0 "b" : tensor<2x5x23xf64>
  %c = nd.contract %a, %b "bki", "bjk" -> "bij" : (tensor<2x23x7xf64>, tensor<2x5x23xf64>) -> tensor<2x7x5xf64>
  run.write %c arena 20 offset 0 "c" : tensor<2x7x5xf64>
  return
}

func.func @product_f64_1x1x9x50() {
  %a = run.read arena 21 offset 0 "a" : tensor<1x50xf64>
  %b = run.read arena 22 offset 0 "b" : tensor<9x50xf64>
  %c = nd.contract %a, %b "ik", "jk" -> "ij" : (tensor<1x50xf64>, tensor<9x50xf64>) -> tensor<1x9xf64>
  run.write %c arena 23 offset 0 "c" : tensor<1x9xf64>
  return
}

// Tests that a product that needs packed panels, or threads, is the library's.
// CHECK: llvm.func @large
// CHECK: llvm.call @dyn_matmul
func.func @large() {
  %a = run.read arena 24 offset 0 "a" : tensor<64x70xf32>
  %b = run.read arena 25 offset 0 "b" : tensor<70x64xf32>
  %c = nd.contract %a, %b "ik", "kj" -> "ij" : (tensor<64x70xf32>, tensor<70x64xf32>) -> tensor<64x64xf32>
  run.write %c arena 26 offset 0 "c" : tensor<64x64xf32>
  return
}
