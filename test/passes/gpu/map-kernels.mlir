// RUN: %dyn-opt %s --map-kernels=vector-bytes=32 --split-input-file | FileCheck %s
//
// Tests how loops are mapped: elements over blocks of 256 threads; a reduction over its fixed blocks, each by as many
// threads as the host has accumulators, with barriers between the steps in which they are combined, and one thread over
// what the blocks left; a row by a block.

// CHECK-LABEL: func.func @map
// CHECK: kernel.launch @kernels::@kernel_0 blocks 4 threads 256(%{{.*}}) {places = [array<i64: 0, 0, 0>]} : (tensor<1000xf32>) -> tensor<1000xf32>
// CHECK: gpu.func @kernel_0(%[[IN:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK: %[[TID:.*]] = gpu.thread_id x
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: llvm.store
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @map() {
  %0 = run.read arena 0 offset 0 "p" : tensor<1000xf32>
  %1 = kernel.fused map [1000](%0) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<1000xf32>) -> tensor<1000xf32> {
  ^bb0(%x: tensor<1000xf32>):
    %2 = nd.mul %x, %x : tensor<1000xf32>
    kernel.yield %2 : tensor<1000xf32>
  }
  run.write %1 arena 0 offset 0 "p" : tensor<1000xf32>
  return
}

// -----

// 20,000 elements are three blocks of 8,192; four accumulators of eight lanes are 32 threads, combined in five steps.
// CHECK-LABEL: func.func @total
// CHECK: kernel.launch @kernels::@kernel_0 blocks 3 threads 32 finish @kernels::@kernel_0_finish(
// CHECK: gpu.func @kernel_0({{.*}}) workgroup(%{{.*}} : memref<32xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for
// CHECK: memref.store
// CHECK-COUNT-6: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.func @kernel_0_finish
// CHECK: arith.extf
// CHECK: arith.truncf
func.func @total() {
  %0 = run.read arena 0 offset 0 "p" : tensor<20000xf32>
  %1 = kernel.fused total [20000](%0) attributes {places = [array<i64: 1, 0, 0>]} : (tensor<20000xf32>) -> tensor<f32> {
  ^bb0(%x: tensor<20000xf32>):
    %2 = nd.reduce sum %x dims [0] : tensor<20000xf32> -> tensor<f32>
    kernel.yield %2 : tensor<f32>
  }
  run.write %1 arena 0 offset 0 "sum" : tensor<f32>
  return
}

// -----

// CHECK-LABEL: func.func @rows
// CHECK: kernel.launch @kernels::@kernel_0 blocks 7 threads 32(
func.func @rows() {
  %0 = run.read arena 0 offset 0 "p" : tensor<7x50xf32>
  %1 = kernel.fused row [7, 50](%0) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<7x50xf32>) -> tensor<7x50xf32> {
  ^bb0(%x: tensor<7x50xf32>):
    %2 = nd.reduce max %x dims [1] : tensor<7x50xf32> -> tensor<7xf32>
    %3 = nd.broadcast %2 dims [0] : tensor<7xf32> -> tensor<7x50xf32>
    %4 = nd.sub %x, %3 : tensor<7x50xf32>
    kernel.yield %4 : tensor<7x50xf32>
  }
  run.write %1 arena 0 offset 0 "p" : tensor<7x50xf32>
  return
}

// -----

// Loops with equal bodies share a kernel.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: kernel.launch @kernels::@kernel_0 blocks 1 threads 256
// CHECK-NOT: gpu.func @kernel_1
func.func @shared() {
  %0 = run.read arena 0 offset 0 "p" : tensor<9xf64>
  %1 = kernel.fused map [9](%0) attributes {places = [array<i64: 1, 0, 0>]} : (tensor<9xf64>) -> tensor<9xf64> {
  ^bb0(%x: tensor<9xf64>):
    %2 = nd.exp %x : tensor<9xf64>
    kernel.yield %2 : tensor<9xf64>
  }
  %3 = kernel.fused map [9](%1) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<9xf64>) -> tensor<9xf64> {
  ^bb0(%x: tensor<9xf64>):
    %4 = nd.exp %x : tensor<9xf64>
    kernel.yield %4 : tensor<9xf64>
  }
  run.write %3 arena 0 offset 0 "p" : tensor<9xf64>
  return
}
