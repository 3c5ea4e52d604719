// RUN: %dyn-opt %s --cse --canonicalize | FileCheck %s
// Reads between writes are one; a read after a write is another; what nobody uses goes, writes never.

// CHECK-LABEL: @order
// CHECK: %[[A:.*]] = run.read arena 0
// CHECK-NOT: run.read
// CHECK: run.write
// CHECK: %[[B:.*]] = run.read arena 0
// CHECK: nd.add %[[A]], %[[B]]
// CHECK: run.emit
// CHECK-NOT: run.clock
func.func @order() {
  %a = run.read arena 0 offset 0 "w" : tensor<4xf32>
  %b = run.read arena 0 offset 0 "w" : tensor<4xf32>
  %c = nd.mul %a, %b : tensor<4xf32>
  run.write %c arena 0 offset 0 "w" : tensor<4xf32>
  %d = run.read arena 0 offset 0 "w" : tensor<4xf32>
  %e = nd.add %a, %d : tensor<4xf32>
  run.emit %e metric 0 : tensor<4xf32>
  %t = run.clock step : tensor<i64>
  return
}
