// RUN: %dyn-opt %s -split-input-file -verify-diagnostics
// What the verifiers refuse, with the sizes at fault.

func.func @shapes_differ(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+2 {{'nd.add' op failed to infer returned types}}
  // expected-error @+1 {{'nd.add' op operands differ in shape or element type: 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = "nd.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @element_type(%x: tensor<4xi1>) {
  // expected-error @+1 {{'nd.exp' op operand #0 must be statically shaped tensor of 32-bit float or 64-bit float values}}
  %0 = nd.exp %x : tensor<4xi1>
  return
}

// -----
func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @+1 {{'nd.exp' op operand #0 must be statically shaped tensor}}
  %0 = nd.exp %x : tensor<?xf32>
  return
}

// -----
func.func @select_condition(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.select' op failed to infer returned types}}
  // expected-error @+1 {{'nd.select' op condition 'tensor<i1>' has not the shape of 'tensor<4xf32>'}}
  %0 = nd.select %c, %x, %x : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @cast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nd.cast' op changes the shape from 'tensor<4xf32>' to 'tensor<5xf64>'}}
  %0 = nd.cast %x : tensor<4xf32> -> tensor<5xf64>
  return
}

// -----
func.func @reshape_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nd.reshape' op changes the number of elements from 4 to 6}}
  %0 = nd.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----
func.func @broadcast_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nd.broadcast' op operand dimension 0 of size 4 becomes result dimension 1 of size 5}}
  %0 = nd.broadcast %x dims [1] : tensor<4xf32> -> tensor<3x5xf32>
  return
}

// -----
func.func @broadcast_order(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'nd.broadcast' op `dims` does not increase within the 3 dimensions of the result}}
  %0 = nd.broadcast %x dims [1, 0] : tensor<4x4xf32> -> tensor<4x4x4xf32>
  return
}

// -----
func.func @permutation(%x: tensor<4x5xf32>) {
  // expected-error @+2 {{'nd.transpose' op failed to infer returned types}}
  // expected-error @+1 {{'nd.transpose' op `perm` = [0, 0] is not a permutation}}
  %0 = nd.transpose %x perm [0, 0] : tensor<4x5xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @slice_end(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.slice' op failed to infer returned types}}
  // expected-error @+1 {{'nd.slice' op reaches 5 in dimension 0 of size 4}}
  %0 = nd.slice %x offsets [0] sizes [3] strides [2] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----
func.func @slice_result(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.slice' op failed to infer returned types}}
  // expected-error @+1 {{'nd.slice' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = nd.slice %x offsets [0] sizes [2] strides [1] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----
func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.pad' op failed to infer returned types}}
  // expected-error @+1 {{'nd.pad' op padding of dimension 0 is negative; use nd.slice to remove elements}}
  %0 = nd.pad %x low [-1] high [0] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----
func.func @concat_sizes(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+2 {{'nd.concat' op failed to infer returned types}}
  // expected-error @+1 {{'nd.concat' op operands 'tensor<4x2xf32>' and 'tensor<4x3xf32>' differ in more than the size of dimension 0}}
  %0 = nd.concat %x, %y dim 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----
func.func @gather_dim(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @+2 {{'nd.gather' op failed to infer returned types}}
  // expected-error @+1 {{'nd.gather' op dimension 1 is not one of the 1 dimensions of 'tensor<4xf32>'}}
  %0 = nd.gather %x, %i dim 1 : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return
}

// -----
func.func @scatter_updates(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) {
  // expected-error @+2 {{'nd.scatter' op failed to infer returned types}}
  // expected-error @+1 {{'nd.scatter' op updates are 'tensor<3xf32>' where 'tensor<2xf32>' fits the base and indices}}
  %0 = nd.scatter add %x, %i, %u dim 0 : (tensor<4xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @reduce_kind(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.reduce' op failed to infer returned types}}
  // expected-error @+1 {{'nd.reduce' op kind `any` does not take elements of type 'f32'}}
  %0 = nd.reduce any %x dims [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----
func.func @reduce_order(%x: tensor<4x5xf32>) {
  // expected-error @+2 {{'nd.reduce' op failed to infer returned types}}
  // expected-error @+1 {{'nd.reduce' op `dims` = [1, 0] does not increase}}
  %0 = nd.reduce sum %x dims [1, 0] : tensor<4x5xf32> -> tensor<f32>
  return
}

// -----
func.func @arg_of_nothing(%x: tensor<0xf32>) {
  // expected-error @+2 {{'nd.arg_reduce' op failed to infer returned types}}
  // expected-error @+1 {{'nd.arg_reduce' op dimension 0 of 'tensor<0xf32>' is empty: no position is greatest or least}}
  %0 = nd.arg_reduce max %x dim 0 : tensor<0xf32> -> tensor<i64>
  return
}

// -----
func.func @letter_sizes(%x: tensor<4x5xf32>, %y: tensor<6x2xf32>) {
  // expected-error @+2 {{'nd.contract' op failed to infer returned types}}
  // expected-error @+1 {{'nd.contract' op letter `k` has sizes 5 and 6}}
  %0 = nd.contract %x, %y "ik", "kj" -> "ij" : (tensor<4x5xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
  return
}

// -----
func.func @letter_twice(%x: tensor<4x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{'nd.contract' op failed to infer returned types}}
  // expected-error @+1 {{'nd.contract' op letter `i` occurs twice in `lhs`}}
  %0 = nd.contract %x, %y "ii", "i" -> "i" : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @letter_unknown(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{'nd.contract' op failed to infer returned types}}
  // expected-error @+1 {{'nd.contract' op letter `z` of `out` occurs in no operand}}
  %0 = nd.contract %x, %y "i", "i" -> "z" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
func.func @segments(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.segment_reduce' op failed to infer returned types}}
  // expected-error @+1 {{'nd.segment_reduce' op `offsets` end at 3, not at the operand's size 4}}
  %0 = nd.segment_reduce sum %x offsets [0, 1, 3] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----
func.func @cumulate_kind(%x: tensor<4xf32>) {
  // expected-error @+2 {{'nd.cumulate' op failed to infer returned types}}
  // expected-error @+1 {{'nd.cumulate' op kind is `min`, not `sum`, `prod` or `max`}}
  %0 = nd.cumulate min %x dim 0 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----
func.func @draw_element(%c: tensor<4xi64>, %b: tensor<i64>) {
  // expected-error @+1 {{'nd.draw' op `normal` does not give elements of type 'i64'}}
  %0 = nd.draw normal noise %c, %b site 1 : (tensor<4xi64>, tensor<i64>) -> tensor<3xi64>
  return
}

// -----
func.func @scan_rows(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nd.scan' op cannot take rows of 'tensor<4xf32>' in 5 passes}}
  nd.scan inits() xs(%x : tensor<4xf32>) trip 5 {
  ^bb0(%i: tensor<i64>, %row: tensor<f32>):
    nd.yield
  }
  return
}

// -----
func.func @scan_yield(%a: tensor<f32>, %b: tensor<f64>) {
  // expected-error @+1 {{'nd.scan' op body yields ('tensor<f64>') where ('tensor<f32>') is expected}}
  %0 = nd.scan inits(%a : tensor<f32>) xs() trip 5 {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    nd.yield %b : tensor<f64>
  } : tensor<f32>
  return
}

// -----
func.func @while_condition(%a: tensor<f32>) {
  // expected-error @+1 {{'nd.while' op condition does not yield one tensor<i1>}}
  %0:2 = nd.while inits(%a : tensor<f32>) limit 3 cond {
  ^bb0(%s: tensor<f32>):
    nd.yield %s : tensor<f32>
  } body {
  ^bb0(%s: tensor<f32>):
    nd.yield %s : tensor<f32>
  } : tensor<f32>, tensor<i64>
  return
}

// -----
func.func @cond_shape(%c: tensor<2xi1>) {
  // expected-error @+1 {{'nd.cond' op condition 'tensor<2xi1>' is not a scalar; use nd.select}}
  nd.cond %c then {
    nd.yield
  } else {
    nd.yield
  } : tensor<2xi1>
  return
}
