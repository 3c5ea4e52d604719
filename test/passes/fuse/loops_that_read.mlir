// RUN: %dyn-opt %s --fuse-kernels | FileCheck %s
//
// Tests that a loop which only reads keeps its place against writes alone: a read of the same arena behind it does not wait
// for it, so that what feeds the loop and what uses the read may be one kernel. Loops that counted as writes closed a circle.

// CHECK-LABEL: @reader
// CHECK: %{{.*}}:2 = kernel.fused  map [4]
// CHECK: nd.scan
func.func @reader() {
  %x = run.read arena 0 offset 0 "x" : tensor<4xf64>
  %a = nd.mul %x, %x : tensor<4xf64>
  %s = nd.scan inits(%a : tensor<4xf64>) xs() trip 2 {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf64>):
    %r = run.read arena 1 offset 0 "y" : tensor<4xf64>
    %t = nd.add %c, %r : tensor<4xf64>
    nd.yield %t : tensor<4xf64>
  } : tensor<4xf64>
  %y = run.read arena 1 offset 0 "y" : tensor<4xf64>
  %b = nd.mul %x, %y : tensor<4xf64>
  run.write %s arena 2 offset 0 "s" : tensor<4xf64>
  run.write %b arena 2 offset 32 "b" : tensor<4xf64>
  return
}

// A write ahead of another by the chain of effects, with a read behind the second: what they write and read is no one loop.
// CHECK-LABEL: @chain
// CHECK: run.write {{.*}} arena 0
// CHECK: run.write {{.*}} arena 1
// CHECK: run.read arena 1
// CHECK: kernel.fused
// CHECK: run.write {{.*}} arena 2
func.func @chain() {
  %x = run.read arena 3 offset 0 "x" : tensor<4xf64>
  %z = run.read arena 3 offset 32 "z" : tensor<4xf64>
  %a = nd.mul %x, %x : tensor<4xf64>
  run.write %a arena 0 offset 0 "a" : tensor<4xf64>
  run.write %z arena 1 offset 0 "z" : tensor<4xf64>
  %y = run.read arena 1 offset 0 "y" : tensor<4xf64>
  %b = nd.mul %x, %y : tensor<4xf64>
  run.write %b arena 2 offset 0 "b" : tensor<4xf64>
  return
}
