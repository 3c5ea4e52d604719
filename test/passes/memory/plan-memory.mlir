// RUN: %dyn-opt %s --fuse-kernels --plan-memory | FileCheck %s

// Tests that an update is made in the arena that it replaces.
// CHECK-LABEL: func.func @in_place
func.func @in_place() {
  %p = run.read arena 0 offset 0 "p" : tensor<100xf32>
  %g = run.read arena 1 offset 0 "g" : tensor<100xf32>
  // CHECK: kernel.fused {{.*}}places = [array<i64: 0, 0, 0>]
  %p1 = nd.sub %p, %g : tensor<100xf32>
  run.write %p1 arena 0 offset 0 "p" : tensor<100xf32>
  return
}

// Tests that a value is not made in the arena whose old elements are needed later: its first reader's slot is taken.
// CHECK-LABEL: func.func @needed_later
func.func @needed_later() {
  %p = run.read arena 0 offset 0 "p" : tensor<100xf32>
  %g = run.read arena 1 offset 0 "g" : tensor<100xf32>
  // CHECK: kernel.fused {{.*}}places = [array<i64: 8, 400, 0>]
  %p1 = nd.sub %p, %g : tensor<100xf32>
  %r = nd.concat %p, %p1 dim 0 : (tensor<100xf32>, tensor<100xf32>) -> tensor<200xf32>
  run.write %p1 arena 0 offset 0 "p" : tensor<100xf32>
  run.write %r arena 8 offset 0 "r" : tensor<200xf32>
  return
}

// Tests that nothing is written in place ahead of a guard.
// CHECK-LABEL: func.func @guarded
func.func @guarded() {
  %p = run.read arena 0 offset 0 "p" : tensor<100xf32>
  // CHECK: kernel.fused {{.*}}places = [array<i64: 9, 0, 0>, array<i64: 9, 448, 0>]
  %e = nd.exp %p : tensor<100xf32>
  %s = nd.reduce sum %e dims [0] : tensor<100xf32> -> tensor<f32>
  run.guard %s site 0 "sum" : tensor<f32>
  run.write %e arena 0 offset 0 "p" : tensor<100xf32>
  return
}

// Tests that pieces are made in their slots of the whole.
// CHECK-LABEL: func.func @slots
func.func @slots() {
  %a = run.read arena 0 offset 0 "a" : tensor<4x2xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<3xf32>
  // CHECK: kernel.fused {{.*}}places = [array<i64: 2, 40, 0>]
  // CHECK: kernel.fused {{.*}}places = [array<i64: 2, 72, 0>]
  // CHECK: nd.concat {{.*}}places = [array<i64: 2, 40, 0>]
  %x = nd.exp %a : tensor<4x2xf32>
  %y = nd.exp %b : tensor<3xf32>
  %f = nd.reshape %x : tensor<4x2xf32> -> tensor<8xf32>
  %g = nd.concat %f, %y dim 0 : (tensor<8xf32>, tensor<3xf32>) -> tensor<11xf32>
  run.write %g arena 2 offset 10 "g" : tensor<11xf32>
  return
}

// Tests that an elementwise loop writes over an input that ends with it.
// CHECK-LABEL: func.func @taken_over
func.func @taken_over() {
  %a = run.read arena 0 offset 0 "a" : tensor<8x4xf32>
  %w = run.read arena 1 offset 0 "w" : tensor<4x2xf32>
  // CHECK: kernel.product {{.*}}places = [array<i64: 9, [[AT:[0-9]+]], 0>]
  // CHECK-NEXT: kernel.fused {{.*}}epilogue{{.*}}places = [array<i64: 9, [[AT]], 0>]
  %c = kernel.product %a, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %t = nd.tanh %c : tensor<8x2xf32>
  %r = nd.cumulate sum %t dim 0 : tensor<8x2xf32> -> tensor<8x2xf32>
  run.write %r arena 3 offset 0 "r" : tensor<8x2xf32>
  return
}

// Tests that rows of a scan's stack are made in place, and so is a carry that its maker reads element by element: here
// both in the arenas that the results are written to.
// CHECK-LABEL: func.func @scanned
func.func @scanned() {
  %a = run.read arena 0 offset 0 "a" : tensor<4xf32>
  %x = run.read arena 1 offset 0 "x" : tensor<10x4xf32>
  // CHECK: nd.scan {{.*}}places = [array<i64: 2, 0, 0>, array<i64: 3, 0, 0>]
  // CHECK: kernel.fused {{.*}}places = [array<i64: 2, 0, 0>, array<i64: 3, 0, 16>]
  %r:2 = nd.scan inits(%a : tensor<4xf32>) xs(%x : tensor<10x4xf32>) trip 10 {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf32>, %row: tensor<4xf32>):
    %n = nd.add %c, %row : tensor<4xf32>
    %e = nd.exp %n : tensor<4xf32>
    nd.yield %n, %e : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<10x4xf32>
  run.write %r#0 arena 2 offset 0 "c" : tensor<4xf32>
  run.write %r#1 arena 3 offset 0 "s" : tensor<10x4xf32>
  return
}

// Tests that ranges that meet are written in their order, each from bytes of its own, also where a long one holds several;
// a range that meets no other is made in place.
// CHECK-LABEL: func.func @contested
func.func @contested() {
  %a = run.read arena 0 offset 0 "a" : tensor<100xf32>
  %b = run.read arena 1 offset 0 "b" : tensor<10xf32>
  %c = run.read arena 2 offset 0 "c" : tensor<10xf32>
  %d = run.read arena 3 offset 0 "d" : tensor<10xf32>
  // CHECK: kernel.fused {{.*}}places = [array<i64: 9, {{[0-9]+}}, 0>]
  // CHECK: kernel.fused {{.*}}places = [array<i64: 9, {{[0-9]+}}, 0>]
  // CHECK: kernel.fused {{.*}}places = [array<i64: 9, {{[0-9]+}}, 0>]
  // CHECK: kernel.fused {{.*}}places = [array<i64: 4, 400, 0>]
  %long = nd.exp %a : tensor<100xf32>
  %first = nd.exp %b : tensor<10xf32>
  %last = nd.exp %c : tensor<10xf32>
  %alone = nd.exp %d : tensor<10xf32>
  run.write %first arena 4 offset 0 "first" : tensor<10xf32>
  run.write %alone arena 4 offset 100 "alone" : tensor<10xf32>
  run.write %last arena 4 offset 90 "last" : tensor<10xf32>
  run.write %long arena 4 offset 0 "long" : tensor<100xf32>
  return
}
