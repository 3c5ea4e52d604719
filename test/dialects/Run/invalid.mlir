// RUN: %dyn-opt %s -split-input-file -verify-diagnostics

func.func @number() {
  // expected-error @+1 {{'run.number' op gives 'tensor<f64>', not 'tensor<f32>'}}
  %0 = run.number 0 "lr" : tensor<f32>
  return
}

// -----
func.func @clock() {
  // expected-error @+1 {{'run.clock' op gives 'tensor<i64>', not 'tensor<f64>'}}
  %0 = run.clock step : tensor<f64>
  return
}

// -----
func.func @rows() {
  // expected-error @+1 {{'run.rows' op gives a list of i64, not 'tensor<i64>'}}
  %0 = run.rows feed 0 : tensor<i64>
  return
}

// -----
func.func @dynamic() {
  // expected-error @+1 {{'run.read' op result #0 must be statically shaped tensor of f32, f64, i64 or i1 without hidden axes}}
  %0 = run.read arena 0 offset 0 "w" : tensor<?xf32>
  return
}

// -----
func.func @hidden() {
  // expected-error @+1 {{'run.read' op result #0 must be statically shaped tensor of f32, f64, i64 or i1 without hidden axes}}
  %0 = run.read arena 0 offset 0 "w" : tensor<4xf32, "example">
  return
}

// -----
func.func @guard(%n: tensor<i64>) {
  // expected-error @+1 {{'run.guard' op guards floating-point values, not 'tensor<i64>'}}
  run.guard %n site 0 "n" : tensor<i64>
  return
}

// -----
run.program @dyn_main {
  // expected-error @+1 {{'run.call' op calls `step`, which is not a function of this module}}
  run.call @step
}

// -----
func.func @step(%x: tensor<f32>) { return }
run.program @dyn_main {
  // expected-error @+1 {{'run.call' op calls `step` of type '(tensor<f32>) -> ()'; a function of effects is () -> ()}}
  run.call @step
}
