// RUN: %dyn-opt %s --normalize-contractions | FileCheck %s

// Tests that a transposition of an operand becomes a flag of the product.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: kernel.product %{{.*}} t, %{{.*}} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  // CHECK-NOT: nd.transpose
  %y = nd.contract %a, %b "ki", "kj" -> "ij" : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Tests that columns before rows in the result exchange the operands.
// CHECK-LABEL: func.func @turned(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x2xf32>
func.func @turned(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<2x4xf32> {
  // CHECK: kernel.product %[[B]] t, %[[A]] t : (tensor<8x2xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %y = nd.contract %a, %b "ik", "kj" -> "ji" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Tests that letters in both operands and in the result are the product's batch.
// CHECK-LABEL: func.func @batched
func.func @batched(%a: tensor<5x4x8xf64>, %b: tensor<5x8x2xf64>) -> tensor<5x4x2xf64> {
  // CHECK: kernel.product {{.*}} -> tensor<5x4x2xf64>
  %y = nd.contract %a, %b "bik", "bkj" -> "bij" : (tensor<5x4x8xf64>, tensor<5x8x2xf64>) -> tensor<5x4x2xf64>
  return %y : tensor<5x4x2xf64>
}

// Tests that several letters of one role are one dimension of the product.
// CHECK-LABEL: func.func @merged
func.func @merged(%a: tensor<3x4x8xf32>, %b: tensor<8x2xf32>) -> tensor<3x4x2xf32> {
  // CHECK: nd.reshape {{.*}} -> tensor<12x8xf32>
  // CHECK: kernel.product {{.*}} -> tensor<12x2xf32>
  // CHECK: nd.reshape {{.*}} -> tensor<3x4x2xf32>
  %y = nd.contract %a, %b "abk", "kj" -> "abj" : (tensor<3x4x8xf32>, tensor<8x2xf32>) -> tensor<3x4x2xf32>
  return %y : tensor<3x4x2xf32>
}

// Tests that an outer product is elementwise.
// CHECK-LABEL: func.func @outer
func.func @outer(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NOT: kernel.product
  // CHECK-NOT: nd.reduce
  // CHECK: nd.mul {{.*}} : tensor<4x2xf32>
  %y = nd.contract %a, %b "i", "j" -> "ij" : (tensor<4xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Tests that a matrix times a vector is a product summed over rows.
// CHECK-LABEL: func.func @vector
func.func @vector(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: nd.mul {{.*}} : tensor<4x8xf32>
  // CHECK: nd.reduce sum {{.*}} dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %y = nd.contract %a, %b "ik", "k" -> "i" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Tests that padded pieces of one range that are added up are joined.
// CHECK-LABEL: func.func @pieces(
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>
func.func @pieces(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<6xf32> {
  // CHECK: %[[GAP:.*]] = nd.constant dense<0.000000e+00> : tensor<1xf32>
  // CHECK: nd.concat %[[A]], %[[GAP]], %[[B]] dim 0
  %p = nd.pad %b low [3] high [0] : tensor<3xf32> -> tensor<6xf32>
  %q = nd.pad %a low [0] high [4] : tensor<2xf32> -> tensor<6xf32>
  %y = nd.add %p, %q : tensor<6xf32>
  return %y : tensor<6xf32>
}

// Tests that pieces that overlap are added as they are.
// CHECK-LABEL: func.func @overlapping
func.func @overlapping(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<6xf32> {
  // CHECK-NOT: nd.concat
  // CHECK: nd.add
  %p = nd.pad %b low [3] high [0] : tensor<3xf32> -> tensor<6xf32>
  %q = nd.pad %a low [0] high [2] : tensor<4xf32> -> tensor<6xf32>
  %y = nd.add %p, %q : tensor<6xf32>
  return %y : tensor<6xf32>
}

// Tests that nothing is begun for pieces that overlap behind a gap: twice the derivative of one element.
// CHECK-LABEL: func.func @overlapping_behind_a_gap
func.func @overlapping_behind_a_gap(%a: tensor<1xf32>) -> tensor<2xf32> {
  // CHECK-NOT: nd.concat
  // CHECK: nd.add
  %p = nd.pad %a low [1] high [0] : tensor<1xf32> -> tensor<2xf32>
  %y = nd.add %p, %p : tensor<2xf32>
  return %y : tensor<2xf32>
}
