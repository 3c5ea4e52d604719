// RUN: %dyn-opt %s --verify-places -split-input-file -verify-diagnostics

// Tests that a product without a place is refused.
func.func @nowhere(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'kernel.product' op has no place for result 0}}
  %c = kernel.product %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that a kernel may write over what it reads at its own index.
func.func @own_index() {
  %x = run.read arena 0 offset 0 "x" : tensor<4x4xf32>
  %y = kernel.fused map [4, 4] (%x) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %e = nd.exp %a : tensor<4x4xf32>
    kernel.yield %e : tensor<4x4xf32>
  }
  return
}

// -----

// Tests that a kernel may not write over what it reads transposed.
func.func @transposed() {
  %x = run.read arena 0 offset 0 "x" : tensor<4x4xf32>
  // expected-error @+1 {{'kernel.fused' op writes result 0 over input 0, which it reads elsewhere}}
  %y = kernel.fused map [4, 4] (%x) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %t = nd.transpose %a perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    kernel.yield %t : tensor<4x4xf32>
  }
  return
}

// -----

// Tests that an epilogue may not write over an operand of its product.
func.func @epilogue() {
  %x = run.read arena 0 offset 0 "x" : tensor<4x4xf32>
  %c = kernel.product %x, %x {places = [array<i64: 1, 0, 0>]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @+1 {{'kernel.fused' op writes over an operand of the product that it follows}}
  %y = kernel.fused map [4, 4] epilogue (%c) attributes {places = [array<i64: 0, 0, 0>]} : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %e = nd.exp %a : tensor<4x4xf32>
    kernel.yield %e : tensor<4x4xf32>
  }
  return
}
