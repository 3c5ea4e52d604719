// RUN: %dyn-opt %s --verify-fused -split-input-file -verify-diagnostics

// Tests that an array op outside of a kernel is refused.
func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nd.exp' op makes an array outside of a kernel}}
  %y = nd.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tests that scalars and views may stand anywhere.
func.func @fine(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<2x2xf32>, tensor<f32>) {
  %y = nd.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  %t = nd.exp %s : tensor<f32>
  return %y, %t : tensor<2x2xf32>, tensor<f32>
}
