// RUN: %dyn-opt %s -split-input-file -verify-diagnostics
// What the ops that a routine does refuse, with the sizes at fault.

func.func @dimension(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.argsort' op failed to infer returned types}}
  // expected-error @+1 {{'nd.argsort' op dimension 1 is not one of the 1 dimensions of 'tensor<4xf32>'}}
  %0 = nd.argsort %x dim 1 : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----
func.func @pieces_of_a_matrix(%x: tensor<4x2xf32>) {
  // expected-error @+2 {{'nd.argsort' op failed to infer returned types}}
  // expected-error @+1 {{'nd.argsort' op has pieces of 'tensor<4x2xf32>', which is not one-dimensional}}
  %0 = nd.argsort %x dim 0 offsets [0, 4] : (tensor<4x2xf32>) -> tensor<4x2xi64>
  return
}

// -----
func.func @offsets(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.argsort' op failed to infer returned types}}
  // expected-error @+1 {{'nd.argsort' op `offsets` does not rise from 0 to 4}}
  %0 = nd.argsort %x dim 0 offsets [0, 3] : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----
func.func @not_square(%a: tensor<4x2xf64>) {
  // expected-error @+2 {{'nd.cholesky' op failed to infer returned types}}
  // expected-error @+1 {{'nd.cholesky' op takes square matrices, not 'tensor<4x2xf64>'}}
  %0 = nd.cholesky %a : (tensor<4x2xf64>) -> tensor<4x2xf64>
  return
}

// -----
func.func @vector(%a: tensor<4xf64>) {
  // expected-error @+2 {{'nd.svd' op failed to infer returned types}}
  // expected-error @+1 {{'nd.svd' op takes matrices, not 'tensor<4xf64>'}}
  %0:3 = nd.svd %a : (tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return
}

// -----
func.func @wide(%a: tensor<2x4xf64>) {
  // expected-error @+2 {{'nd.qr' op failed to infer returned types}}
  // expected-error @+1 {{'nd.qr' op takes matrices with at least as many rows as columns, not 'tensor<2x4xf64>'}}
  %0:2 = nd.qr %a : (tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<4x4xf64>)
  return
}

// -----
func.func @batches_differ(%a: tensor<3x4x4xf64>, %b: tensor<2x4x1xf64>) {
  // expected-error @+2 {{'nd.solve' op failed to infer returned types}}
  // expected-error @+1 {{'nd.solve' op cannot solve 'tensor<3x4x4xf64>' for 'tensor<2x4x1xf64>'}}
  %0 = nd.solve %a, %b : (tensor<3x4x4xf64>, tensor<2x4x1xf64>) -> tensor<2x4x1xf64>
  return
}

// -----
func.func @not_complex(%x: tensor<4x3xf64>) {
  // expected-error @+2 {{'nd.fft' op failed to infer returned types}}
  // expected-error @+1 {{'nd.fft' op takes pairs of real and imaginary parts in the last dimension, not 'tensor<4x3xf64>'}}
  %0 = nd.fft %x : (tensor<4x3xf64>) -> tensor<4x3xf64>
  return
}
