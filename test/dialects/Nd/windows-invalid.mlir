// RUN: %dyn-opt %s -split-input-file -verify-diagnostics
// What the verifiers of windows refuse, with the sizes at fault.

func.func @too_large(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op window dimension 0 spans 5 elements of 4}}
  %0 = nd.window %x sizes [3] strides [1] dilations [2] low [1] high [0] : tensor<2x3xf32> -> tensor<2x3x1xf32>
  return
}

// -----
func.func @stride(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op stride 0 of window dimension 0 is less than 1}}
  %0 = nd.window %x sizes [3] strides [0] dilations [1] low [0] high [0] : tensor<2x3xf32> -> tensor<2x3x1xf32>
  return
}

// -----
func.func @lists(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op has lists of 2 and of 1 entries}}
  %0 = nd.window %x sizes [1, 1] strides [1] dilations [1, 1] low [0, 0] high [0, 0] : tensor<2x3xf32> -> tensor<1x1x2x3xf32>
  return
}

// -----
func.func @rank(%x: tensor<3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op has 2 window dimensions for the 1 dimensions of 'tensor<3xf32>'}}
  %0 = nd.window %x sizes [1, 1] strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] : tensor<3xf32> -> tensor<1x1x3xf32>
  return
}

// -----
func.func @none(%x: tensor<3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op has a window of no dimension}}
  %0 = nd.window %x sizes [] strides [] dilations [] low [] high [] : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----
func.func @padding(%x: tensor<3xf32>) {
  // expected-error @+2 {{'nd.window' op failed to infer returned types}}
  // expected-error @+1 {{'nd.window' op padding of window dimension 0 is negative}}
  %0 = nd.window %x sizes [1] strides [1] dilations [1] low [-1] high [0] : tensor<3xf32> -> tensor<1x2xf32>
  return
}

// -----
func.func @unwindow(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{'nd.unwindow' op failed to infer returned types}}
  // expected-error @+1 {{'nd.unwindow' op takes 'tensor<2x4xf32>', not 'tensor<2x3xf32>'}}
  %0 = nd.unwindow %x shape [5] sizes [2] strides [1] dilations [1] low [0] high [0] : tensor<2x3xf32> -> tensor<5xf32>
  return
}
