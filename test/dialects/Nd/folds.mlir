// RUN: %dyn-opt %s --canonicalize | FileCheck %s
// One function an equation.

// CHECK-LABEL: @neutral_elements
// CHECK-NEXT: return %arg0
func.func @neutral_elements(%x: tensor<100xf32>) -> tensor<100xf32> {
  %zero = nd.constant dense<0.0> : tensor<100xf32>
  %one = nd.constant dense<1.0> : tensor<100xf32>
  %0 = nd.add %zero, %x : tensor<100xf32>
  %1 = nd.sub %0, %zero : tensor<100xf32>
  %2 = nd.mul %one, %1 : tensor<100xf32>
  %3 = nd.div %2, %one : tensor<100xf32>
  %4 = nd.pow %3, %one : tensor<100xf32>
  %5 = nd.neg %4 : tensor<100xf32>
  %6 = nd.neg %5 : tensor<100xf32>
  return %6 : tensor<100xf32>
}

// nan * 0 is nan.
// CHECK-LABEL: @times_zero_stays
// CHECK: nd.mul
func.func @times_zero_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nd.constant dense<0.0> : tensor<4xf32>
  %0 = nd.mul %x, %zero : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @powers
// CHECK-DAG: %[[ONE:.*]] = nd.constant dense<1.0
// CHECK-DAG: %[[A:.*]] = nd.mul %arg0, %arg0
// CHECK-DAG: %[[B:.*]] = nd.sqrt %arg0
// CHECK-DAG: %[[C:.*]] = nd.div %[[ONE]], %arg0
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = nd.constant dense<2.0> : tensor<4xf32>
  %half = nd.constant dense<0.5> : tensor<4xf32>
  %minus = nd.constant dense<-1.0> : tensor<4xf32>
  %0 = nd.pow %x, %two : tensor<4xf32>
  %1 = nd.pow %x, %half : tensor<4xf32>
  %2 = nd.pow %x, %minus : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @moves_of_moves
// CHECK-NEXT: %[[R:.*]] = nd.reshape %arg0 : tensor<2x6xf32> -> tensor<12xf32>
// CHECK-NEXT: return %[[R]], %arg0
func.func @moves_of_moves(%x: tensor<2x6xf32>) -> (tensor<12xf32>, tensor<2x6xf32>) {
  %0 = nd.reshape %x : tensor<2x6xf32> -> tensor<3x4xf32>
  %1 = nd.reshape %0 : tensor<3x4xf32> -> tensor<12xf32>
  %2 = nd.transpose %x perm [1, 0] : tensor<2x6xf32> -> tensor<6x2xf32>
  %3 = nd.transpose %2 perm [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
  %4 = nd.slice %3 offsets [0, 0] sizes [2, 6] strides [1, 1] : tensor<2x6xf32> -> tensor<2x6xf32>
  %5 = nd.pad %4 low [0, 0] high [0, 0] : tensor<2x6xf32> -> tensor<2x6xf32>
  return %1, %5 : tensor<12xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: @constants
// CHECK-DAG: nd.constant dense<[3.000000e+00, 1.000000e+00]>
// CHECK-DAG: nd.constant dense<7.000000e+00> : tensor<100x100xf32>
func.func @constants() -> (tensor<2xf32>, tensor<100x100xf32>) {
  %a = nd.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %i = nd.constant dense<[1, 0]> : tensor<2xi64>
  %0 = nd.gather %a, %i dim 0 : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  %s = nd.constant dense<7.0> : tensor<f32>
  %1 = nd.broadcast %s dims [] : tensor<f32> -> tensor<100x100xf32>
  return %0, %1 : tensor<2xf32>, tensor<100x100xf32>
}

// CHECK-LABEL: @known_choice
// CHECK: %[[N:.*]] = nd.neg %arg0
// CHECK: return %arg0, %[[N]]
func.func @known_choice(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %true = nd.constant dense<true> : tensor<2xi1>
  %false = nd.constant dense<false> : tensor<i1>
  %0 = nd.select %true, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = nd.cond %false then {
    nd.yield %x : tensor<2xf32>
  } else {
    %n = nd.neg %x : tensor<2xf32>
    nd.yield %n : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @contract_looks_through
// CHECK-NEXT: nd.contract %arg0, %arg1 "ki", "kj" -> "ij"
// CHECK-NEXT: nd.contract %arg2, %arg1 "k", "kj" -> "j"
// CHECK-NEXT: return
func.func @contract_looks_through(%a: tensor<4x8xf32>, %b: tensor<4x2xf32>, %c: tensor<4xf32>)
    -> (tensor<8x2xf32>, tensor<2xf32>) {
  %0 = nd.transpose %a perm [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = nd.contract %0, %b "ik", "kj" -> "ij" : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %2 = nd.broadcast %c dims [1] : tensor<4xf32> -> tensor<2x4xf32>
  %3 = nd.contract %2, %b "jk", "kj" -> "j" : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<8x2xf32>, tensor<2xf32>
}
