// RUN: %dyn-opt %s --map-kernels --split-input-file --verify-diagnostics
//
// Tests that what has no kernel is named: a function of a library, and an operation with loops of its own.

func.func @sine() {
  %0 = run.read arena 0 offset 0 "p" : tensor<9xf64>
  %1 = kernel.fused map [9](%0) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<9xf64>) -> tensor<9xf64> {
  ^bb0(%x: tensor<9xf64>):
    // expected-error @below {{no code for a device: `sin`}}
    %2 = nd.sin %x : tensor<9xf64>
    kernel.yield %2 : tensor<9xf64>
  }
  run.write %1 arena 0 offset 0 "p" : tensor<9xf64>
  return
}

// -----

func.func @product() {
  %0 = run.read arena 0 offset 0 "a" : tensor<9x9xf64>
  // expected-error @below {{no code for a device: a matrix product}}
  %1 = kernel.product %0, %0 {places = [array<i64: 1, 0, 0>]} : (tensor<9x9xf64>, tensor<9x9xf64>) -> tensor<9x9xf64>
  run.write %1 arena 0 offset 0 "a" : tensor<9x9xf64>
  return
}
