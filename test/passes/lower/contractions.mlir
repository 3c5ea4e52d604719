// RUN: %dyn-opt %s --fuse-kernels --plan-memory --lower-kernels=vector-bytes=32 | FileCheck %s
// RUN: %dyn-run-nd %s --check=4e-6 --positive
// RUN: %dyn-run-nd %s --check=4e-6 --positive --cpu=x86-64

// Tests that an array over a number of the run is multiplied by the reciprocal, formed outside the loop: one division,
// of scalars. A power of two takes divisors near the ends of the exponents to the middle; the loop
// for the others does without it.
// CHECK-LABEL: llvm.func internal @kernel_0
// CHECK: math.absf
// CHECK: %[[SCALED:.*]] = arith.mulf {{.*}} : f32
// CHECK: arith.divf {{.*}}, %[[SCALED]] : f32
// CHECK: scf.if
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.{{mulf|divf}}
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.{{mulf|divf}}
// CHECK: llvm.return
func.func @quotient() {
  %a = run.read arena 0 offset 0 "a" : tensor<96xf32>
  %n = run.read arena 1 offset 0 "n" : tensor<f32>
  %b = nd.broadcast %n dims [] : tensor<f32> -> tensor<96xf32>
  %x = nd.div %a, %b : tensor<96xf32>
  run.write %x arena 2 offset 0 "x" : tensor<96xf32>
  return
}

// Tests that a literal divisor stays one: x / 3 is 1 where x is 3.
// CHECK-LABEL: llvm.func internal @kernel_1
// CHECK: scf.for
// CHECK: arith.divf {{.*}} : vector<8xf32>
// CHECK: llvm.return
func.func @literal() {
  %a = run.read arena 0 offset 0 "a" : tensor<96xf32>
  %b = nd.constant dense<3.0> : tensor<96xf32>
  %x = nd.div %a, %b : tensor<96xf32>
  run.write %x arena 2 offset 0 "x" : tensor<96xf32>
  return
}

// Tests that a product that only a sum reads is added with one rounding, in the masked tail as well.
// CHECK-LABEL: llvm.func internal @kernel_2
// CHECK: scf.for
// CHECK-NOT: arith.mulf
// CHECK: llvm.intr.fmuladd{{.*}} -> vector<8xf32>
// CHECK: scf.if
// CHECK: llvm.intr.fmuladd{{.*}} -> vector<8xf32>
// CHECK: llvm.return
func.func @sum() {
  %a = run.read arena 0 offset 0 "a" : tensor<101xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<101xf32>
  %c = run.read arena 3 offset 0 "c" : tensor<101xf32>
  %p = nd.mul %a, %b : tensor<101xf32>
  %x = nd.sub %c, %p : tensor<101xf32>
  run.write %x arena 2 offset 0 "x" : tensor<101xf32>
  return
}

// Tests that a square is not contracted into a difference, which else could fall below 0 where it is 0.
// CHECK-LABEL: llvm.func internal @kernel_3
// CHECK-NOT: llvm.intr.fmuladd
// CHECK: arith.mulf
// CHECK: arith.subf
// CHECK: llvm.return
func.func @variance() {
  %a = run.read arena 0 offset 0 "a" : tensor<96xf32>
  %c = run.read arena 3 offset 0 "c" : tensor<96xf32>
  %p = nd.mul %a, %a : tensor<96xf32>
  %x = nd.sub %c, %p : tensor<96xf32>
  run.write %x arena 2 offset 0 "x" : tensor<96xf32>
  return
}

// Tests that a sum of squares is accumulated with one rounding each.
// CHECK-LABEL: llvm.func internal @kernel_4
// CHECK-NOT: arith.mulf
// CHECK: llvm.intr.fmuladd{{.*}} -> vector<8xf32>
// CHECK: llvm.return
func.func @norm() {
  %a = run.read arena 0 offset 0 "a" : tensor<96xf32>
  %p = nd.mul %a, %a : tensor<96xf32>
  %s = nd.reduce sum %p dims [0] : tensor<96xf32> -> tensor<f32>
  run.write %s arena 2 offset 0 "s" : tensor<f32>
  return
}

// A divisor that needs its scale: the evaluator judges.
func.func @far() {
  %a = run.read arena 0 offset 0 "a" : tensor<96xf32>
  %n = run.read arena 1 offset 0 "n" : tensor<f32>
  %tiny = nd.constant dense<1.0e-33> : tensor<f32>
  %d = nd.mul %n, %tiny : tensor<f32>
  %b = nd.broadcast %d dims [] : tensor<f32> -> tensor<96xf32>
  %x = nd.div %a, %b : tensor<96xf32>
  run.write %x arena 4 offset 0 "x" : tensor<96xf32>
  return
}
