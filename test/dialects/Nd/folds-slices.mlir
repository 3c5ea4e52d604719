// RUN: %dyn-opt %s --canonicalize | FileCheck %s
//
// Tests that slices see through slices and joined pieces, and that all pieces of a value are the value.

// CHECK-LABEL: @pieces
// CHECK-SAME: %[[A:.*]]: tensor<4xf64>, %[[B:.*]]: tensor<6xf64>
// CHECK: %[[S:.*]] = nd.slice %[[B]] offsets [1] sizes [2] strides [2]
// CHECK: %[[X:.*]] = nd.slice %{{.*}} offsets [3] sizes [2] strides [1] : tensor<10xf64>
// CHECK: return %[[A]], %[[S]], %[[X]]
func.func @pieces(%a: tensor<4xf64>, %b: tensor<6xf64>) -> (tensor<4xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0 = nd.concat %a, %b dim 0 : (tensor<4xf64>, tensor<6xf64>) -> tensor<10xf64>
  %1 = nd.slice %0 offsets [0] sizes [4] strides [1] : tensor<10xf64> -> tensor<4xf64>
  %2 = nd.slice %0 offsets [5] sizes [2] strides [2] : tensor<10xf64> -> tensor<2xf64>
  %3 = nd.slice %0 offsets [3] sizes [2] strides [1] : tensor<10xf64> -> tensor<2xf64>
  return %1, %2, %3 : tensor<4xf64>, tensor<2xf64>, tensor<2xf64>
}

// CHECK-LABEL: @twice
// CHECK: nd.slice %{{.*}} offsets [1, 5] sizes [2, 2] strides [2, 6] : tensor<8x16xf64>
// CHECK-NEXT: return
func.func @twice(%x: tensor<8x16xf64>) -> tensor<2x2xf64> {
  %0 = nd.slice %x offsets [1, 2] sizes [6, 4] strides [1, 3] : tensor<8x16xf64> -> tensor<6x4xf64>
  %1 = nd.slice %0 offsets [0, 1] sizes [2, 2] strides [2, 2] : tensor<6x4xf64> -> tensor<2x2xf64>
  return %1 : tensor<2x2xf64>
}

// CHECK-LABEL: @whole
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf64>
// CHECK: %[[PART:.*]] = nd.concat
// CHECK: return %[[X]], %[[PART]]
func.func @whole(%x: tensor<8x4xf64>) -> (tensor<8x4xf64>, tensor<7x4xf64>) {
  %0 = nd.slice %x offsets [0, 0] sizes [3, 4] strides [1, 1] : tensor<8x4xf64> -> tensor<3x4xf64>
  %1 = nd.slice %x offsets [3, 0] sizes [5, 4] strides [1, 1] : tensor<8x4xf64> -> tensor<5x4xf64>
  %2 = nd.concat %0, %1 dim 0 : (tensor<3x4xf64>, tensor<5x4xf64>) -> tensor<8x4xf64>
  %3 = nd.slice %x offsets [4, 0] sizes [4, 4] strides [1, 1] : tensor<8x4xf64> -> tensor<4x4xf64>
  %4 = nd.concat %0, %3 dim 0 : (tensor<3x4xf64>, tensor<4x4xf64>) -> tensor<7x4xf64>
  return %2, %4 : tensor<8x4xf64>, tensor<7x4xf64>
}
