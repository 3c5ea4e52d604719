// RUN: %dyn-opt %s -split-input-file -verify-diagnostics
// Every refusal of the verifiers of dyn.

dyn.train @t {
  // expected-error @+1 {{'dyn.objective' op ends without dyn.yield}}
  dyn.objective @loss feed -1 batch 1 {
  ^bb0(%w: tensor<f32>):
    %0 = nd.neg %w : tensor<f32>
  }
}

// -----
dyn.train @t {
  // expected-error @+1 {{'dyn.objective' op yields 'tensor<3xf32>', not one number without hidden axes}}
  dyn.objective @loss feed -1 batch 1 {
  ^bb0(%w: tensor<3xf32>):
    dyn.yield %w : tensor<3xf32>
  }
}

// -----
dyn.train @t {
  // expected-error @+1 {{, not one number without hidden axes}}
  dyn.objective @loss feed 0 batch 4 {
    %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<f32, #dyn.axes<["example"]>>
    dyn.yield %x : tensor<f32, #dyn.axes<["example"]>>
  }
}

// -----
func.func @field() {
  // expected-error @+1 {{'dyn.field' op gives 'tensor<3xf32>', which does not carry `example`}}
  %x = dyn.field "x" arena 1 rows 10 feed 0 : tensor<3xf32>
  return
}

// -----
func.func @row() {
  // expected-error @+1 {{'dyn.row' op gives 'tensor<i64>', not one i64 that carries `example`}}
  %x = dyn.row feed 0 : tensor<i64>
  return
}

// -----
func.func @over_absent(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dyn.over' op reduces over `example`, which 'tensor<3xf32>' does not carry}}
  %0 = dyn.over sum %x axis "example" : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----
func.func @over_keeps(%x: tensor<3xf32, #dyn.axes<["example"]>>) {
  // expected-error @+1 {{'tensor<3xf32>' was expected}}
  %0 = dyn.over sum %x axis "example" : tensor<3xf32, #dyn.axes<["example"]>> -> tensor<3xf32, #dyn.axes<["example"]>>
  return
}

// -----
func.func @count_type(%x: tensor<3xf32, #dyn.axes<["example"]>>) {
  // expected-error @+1 {{'tensor<3xi64>' was expected}}
  %0 = dyn.over count %x axis "example" : tensor<3xf32, #dyn.axes<["example"]>> -> tensor<3xf32>
  return
}

// -----
func.func @stack_absent(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dyn.stack' op has no `example` in 'tensor<3xf32>'}}
  %0 = dyn.stack %x axis "example" : tensor<3xf32> -> tensor<4x3xf32>
  return
}

// -----
func.func @unstack_shape(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'dyn.unstack' op makes other elements of it}}
  %0 = dyn.unstack %x axis "label" : tensor<4x3xf32> -> tensor<4xf32, #dyn.axes<["label"]>>
  return
}

// -----
func.func @elements_matrix(%x: tensor<2x2xi1>) {
  // expected-error @+1 {{not one bool for each element}}
  dyn.elements "label" present %x : tensor<2x2xi1>
  return
}

// -----
func.func @vary_drops(%x: tensor<3xf32, #dyn.axes<["example"]>>) {
  // expected-error @+1 {{'dyn.vary' op drops the axis `example`}}
  %0 = dyn.vary %x : tensor<3xf32, #dyn.axes<["example"]>> -> tensor<3xf32>
  return
}

// -----
func.func @vary_shape(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dyn.vary' op changes more than the encoding}}
  %0 = dyn.vary %x : tensor<3xf32> -> tensor<4xf32, #dyn.axes<["example"]>>
  return
}

// -----
func.func @recast_element(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dyn.recast' op changes more than the encoding}}
  %0 = dyn.recast %x : tensor<3xf32> -> tensor<3xf64, #dyn.tree<[[3]]>>
  return
}

// -----
func.func @reduce_plain(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dyn.leaf_reduce' op reduces 'tensor<3xf32>', which is not leaf-wise}}
  %0 = dyn.leaf_reduce sum %x : tensor<3xf32> -> tensor<1xf32, #dyn.per_leaf<1>>
  return
}

// -----
func.func @reduce_count(%x: tensor<3xf32, #dyn.leaves<[[2], []]>>) {
  // expected-error @+1 {{for 2 leaves}}
  %0 = dyn.leaf_reduce sum %x : tensor<3xf32, #dyn.leaves<[[2], []]>> -> tensor<3xf32, #dyn.per_leaf<3>>
  return
}

// -----
func.func @spread_count(%x: tensor<3xf32, #dyn.per_leaf<3>>) {
  // expected-error @+1 {{'dyn.leaf_spread' op spreads}}
  %0 = dyn.leaf_spread %x : tensor<3xf32, #dyn.per_leaf<3>> -> tensor<3xf32, #dyn.leaves<[[2], []]>>
  return
}

// -----
func.func @yield_outside(%x: tensor<f32>) {
  // expected-error @+1 {{'dyn.yield' op expects parent op}}
  dyn.yield %x : tensor<f32>
}
