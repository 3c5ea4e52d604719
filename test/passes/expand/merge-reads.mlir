// RUN: %dyn-opt %s --merge-reads | FileCheck %s

// Across an emit, which writes no arena, and a write to another arena.
// CHECK-LABEL: @again
// CHECK: %[[X:.*]] = run.read arena 0 offset 0
// CHECK-NEXT: %[[N:.*]] = run.rows
// CHECK-NEXT: run.emit
// CHECK-NEXT: run.write %[[X]] arena 1
// CHECK-NEXT: nd.add %[[X]], %[[X]]
// CHECK-NEXT: nd.add %[[N]], %[[N]]
func.func @again(%e: tensor<f64>) {
  %a = run.read arena 0 offset 0 "x" : tensor<4xf64>
  %n = run.rows feed 0 : tensor<8xi64>
  run.emit %e metric 0 : tensor<f64>
  run.write %a arena 1 offset 0 "y" : tensor<4xf64>
  %b = run.read arena 0 offset 0 "x" : tensor<4xf64>
  %m = run.rows feed 0 : tensor<8xi64>
  %0 = nd.add %a, %b : tensor<4xf64>
  %1 = nd.add %n, %m : tensor<8xi64>
  run.write %0 arena 1 offset 0 "y" : tensor<4xf64>
  return
}

// Not across a write to the arena, at whatever place, nor other elements, another type, or past a call.
// CHECK-LABEL: @written
// CHECK-COUNT-5: run.read arena 0
func.func @written(%v: tensor<f64>) {
  %a = run.read arena 0 offset 0 "x" : tensor<4xf64>
  %b = run.read arena 0 offset 4 "x" : tensor<4xf64>
  %c = run.read arena 0 offset 0 "x" : tensor<2xf64>
  run.write %v arena 0 offset 9 "v" : tensor<f64>
  %d = run.read arena 0 offset 0 "x" : tensor<4xf64>
  func.call @again(%v) : (tensor<f64>) -> ()
  %e = run.read arena 0 offset 0 "x" : tensor<4xf64>
  run.write %a arena 1 offset 0 "y" : tensor<4xf64>
  run.write %b arena 1 offset 4 "y" : tensor<4xf64>
  run.write %c arena 1 offset 8 "y" : tensor<2xf64>
  run.write %d arena 1 offset 12 "y" : tensor<4xf64>
  run.write %e arena 1 offset 16 "y" : tensor<4xf64>
  return
}

// Inside the body of a loop, once a pass.
// CHECK-LABEL: @loop
// CHECK: nd.scan
// CHECK-COUNT-1: run.read arena 0
// CHECK-NOT: run.read
func.func @loop(%s: tensor<4xf64>) {
  %0 = nd.scan inits(%s : tensor<4xf64>) xs() trip 2 {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf64>):
    %a = run.read arena 0 offset 0 "x" : tensor<4xf64>
    %b = run.read arena 0 offset 0 "x" : tensor<4xf64>
    %t = nd.mul %a, %b : tensor<4xf64>
    %u = nd.add %c, %t : tensor<4xf64>
    nd.yield %u : tensor<4xf64>
  } : tensor<4xf64>
  run.write %0 arena 1 offset 0 "y" : tensor<4xf64>
  return
}
