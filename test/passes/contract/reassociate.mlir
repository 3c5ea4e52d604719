// RUN: %dyn-opt %s --pass-pipeline='builtin.module(func.func(reassociate))' -split-input-file | FileCheck %s

// The squared norms of outer products, one for each b: the products of the norms.
// CHECK-LABEL: func.func @norms
// CHECK-SAME: %[[D:.*]]: tensor<8x32xf64>, %[[X:.*]]: tensor<8x64xf64>
// CHECK-DAG: %[[DD:.*]] = nd.contract %[[D]], %[[D]] "ab", "ab" -> "a"
// CHECK-DAG: %[[XX:.*]] = nd.contract %[[X]], %[[X]] "ab", "ab" -> "a"
// CHECK: nd.contract %{{.*}}, %{{.*}} "a", "a" -> "a"
// CHECK-NOT: 8x32x64
// CHECK: return
func.func @norms(%d: tensor<8x32xf64>, %x: tensor<8x64xf64>) -> tensor<8xf64> {
  %g = nd.contract %d, %x "bi", "bj" -> "bij" : (tensor<8x32xf64>, tensor<8x64xf64>) -> tensor<8x32x64xf64>
  %f = nd.reshape %g : tensor<8x32x64xf64> -> tensor<8x2048xf64>
  %s = nd.mul %f, %f : tensor<8x2048xf64>
  %n = nd.reduce sum %s dims [1] : tensor<8x2048xf64> -> tensor<8xf64>
  return %n : tensor<8xf64>
}

// -----

// A weighted sum of outer products, weights chosen and divided for each b: one matrix product, and a plain sum beside
// it for the piece that has no product.
// CHECK-LABEL: func.func @weighted
// CHECK-SAME: %[[D:.*]]: tensor<8x32xf64>, %[[X:.*]]: tensor<8x64xf64>, %[[C:.*]]: tensor<8xi1>, %[[N:.*]]: tensor<8xf64>
// CHECK: %[[W:.*]] = nd.select %[[C]]
// CHECK: %[[SCALED:.*]] = nd.contract %[[W]], %[[D]] "a", "ab" -> "ab"
// CHECK-NEXT: nd.contract %[[SCALED]], %[[X]] "ab", "ac" -> "bc"
// CHECK-NOT: 8x32x64
// CHECK: nd.concat
// CHECK: return
func.func @weighted(%d: tensor<8x32xf64>, %x: tensor<8x64xf64>, %c: tensor<8xi1>, %n: tensor<8xf64>) -> tensor<2080xf64> {
  %g = nd.contract %d, %x "bi", "bj" -> "bij" : (tensor<8x32xf64>, tensor<8x64xf64>) -> tensor<8x32x64xf64>
  %f = nd.reshape %g : tensor<8x32x64xf64> -> tensor<8x2048xf64>
  %all = nd.concat %f, %d dim 1 : (tensor<8x2048xf64>, tensor<8x32xf64>) -> tensor<8x2080xf64>
  %wide = nd.broadcast %n dims [0] : tensor<8xf64> -> tensor<8x2080xf64>
  %small = nd.div %all, %wide : tensor<8x2080xf64>
  %which = nd.broadcast %c dims [0] : tensor<8xi1> -> tensor<8x2080xi1>
  %clipped = nd.select %which, %all, %small : (tensor<8x2080xi1>, tensor<8x2080xf64>, tensor<8x2080xf64>) -> tensor<8x2080xf64>
  %s = nd.reduce sum %clipped dims [0] : tensor<8x2080xf64> -> tensor<2080xf64>
  return %s : tensor<2080xf64>
}

// -----

// Rows that are not there count as 0, whatever their product.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: %[[D:.*]]: tensor<8x32xf64>, %[[X:.*]]: tensor<8x64xf64>, %[[C:.*]]: tensor<8xi1>
// CHECK: %[[W:.*]] = nd.select %[[C]]
// CHECK: nd.contract %[[W]], %[[D]] "a", "ab" -> "ab"
// CHECK-NOT: 8x32x64
// CHECK: return
func.func @masked(%d: tensor<8x32xf64>, %x: tensor<8x64xf64>, %c: tensor<8xi1>) -> tensor<32x64xf64> {
  %zero = nd.constant dense<0.0> : tensor<8x32x64xf64>
  %g = nd.contract %d, %x "bi", "bj" -> "bij" : (tensor<8x32xf64>, tensor<8x64xf64>) -> tensor<8x32x64xf64>
  %which = nd.broadcast %c dims [0] : tensor<8xi1> -> tensor<8x32x64xi1>
  %there = nd.select %which, %g, %zero : (tensor<8x32x64xi1>, tensor<8x32x64xf64>, tensor<8x32x64xf64>) -> tensor<8x32x64xf64>
  %s = nd.reduce sum %there dims [0] : tensor<8x32x64xf64> -> tensor<32x64xf64>
  return %s : tensor<32x64xf64>
}

// -----

// What is repeated for each b is repeated last, and a contraction of it needs no b.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: %[[P:.*]]: tensor<20xf64>, %[[X:.*]]: tensor<8x4xf64>
// CHECK: %[[W:.*]] = nd.reshape %{{.*}} -> tensor<3x4xf64>
// CHECK: nd.contract %[[W]], %[[X]] "ij", "bj" -> "bi"
func.func @repeated(%p: tensor<20xf64>, %x: tensor<8x4xf64>) -> tensor<8x3xf64> {
  %all = nd.broadcast %p dims [1] : tensor<20xf64> -> tensor<8x20xf64>
  %flat = nd.slice %all offsets [0, 4] sizes [8, 12] strides [1, 1] : tensor<8x20xf64> -> tensor<8x12xf64>
  %w = nd.reshape %flat : tensor<8x12xf64> -> tensor<8x3x4xf64>
  %y = nd.contract %w, %x "bij", "bj" -> "bi" : (tensor<8x3x4xf64>, tensor<8x4xf64>) -> tensor<8x3xf64>
  return %y : tensor<8x3xf64>
}

// -----

// A sum of elementwise products stays as it is: no order is cheaper.
// CHECK-LABEL: func.func @plain
// CHECK: nd.mul
// CHECK-NEXT: nd.reduce
func.func @plain(%a: tensor<8x32xf64>, %b: tensor<8x32xf64>) -> tensor<8xf64> {
  %p = nd.mul %a, %b : tensor<8x32xf64>
  %s = nd.reduce sum %p dims [1] : tensor<8x32xf64> -> tensor<8xf64>
  return %s : tensor<8xf64>
}
