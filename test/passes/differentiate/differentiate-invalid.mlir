// RUN: %dyn-opt %s --nd-differentiate="function=f wrt=0" -split-input-file -verify-diagnostics

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{no derivative passes through `nd.floor`: its result is flat: the derivative of `floor` is 0 everywhere}}
  %0 = nd.floor %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----
// expected-error @+1 {{the derivative of the result by argument 0 is zero everywhere}}
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = nd.stop_gradient %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----
// A path through whole numbers carries no derivative.
// expected-error @+1 {{the derivative of the result by argument 0 is zero everywhere}}
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = nd.cast %x : tensor<f32> -> tensor<i64>
  %1 = nd.cast %0 : tensor<i64> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----
// expected-error @+1 {{argument 0 is not a float to differentiate by}}
func.func @f(%x: tensor<i64>) -> tensor<i64> {
  return %x : tensor<i64>
}

// -----
// expected-error @+1 {{the first result is not a scalar float}}
func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
