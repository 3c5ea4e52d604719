// RUN: %dyn-opt %s | %dyn-opt | FileCheck %s
// Elementwise ops print one type when all agree.

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4xf32>, %b: tensor<4xi1>, %n: tensor<4xi64>) {
  // CHECK: nd.neg %{{.*}} : tensor<4xf32>
  %0 = nd.neg %x : tensor<4xf32>
  // CHECK: nd.abs %{{.*}} : tensor<4xi64>
  %1 = nd.abs %n : tensor<4xi64>
  // CHECK: nd.sign
  %2 = nd.sign %x : tensor<4xf32>
  // CHECK: nd.sqrt
  %3 = nd.sqrt %x : tensor<4xf32>
  // CHECK: nd.rsqrt
  %4 = nd.rsqrt %x : tensor<4xf32>
  // CHECK: nd.exp
  %5 = nd.exp %x : tensor<4xf32>
  // CHECK: nd.expm1
  %6 = nd.expm1 %x : tensor<4xf32>
  // CHECK: nd.log
  %7 = nd.log %x : tensor<4xf32>
  // CHECK: nd.log1p
  %8 = nd.log1p %x : tensor<4xf32>
  // CHECK: nd.sin
  %9 = nd.sin %x : tensor<4xf32>
  // CHECK: nd.cos
  %10 = nd.cos %x : tensor<4xf32>
  // CHECK: nd.tanh
  %11 = nd.tanh %x : tensor<4xf32>
  // CHECK: nd.sigmoid
  %12 = nd.sigmoid %x : tensor<4xf32>
  // CHECK: nd.erf
  %13 = nd.erf %x : tensor<4xf32>
  // CHECK: nd.floor
  %14 = nd.floor %x : tensor<4xf32>
  // CHECK: nd.ceil
  %15 = nd.ceil %x : tensor<4xf32>
  // CHECK: nd.round
  %16 = nd.round %x : tensor<4xf32>
  // CHECK: nd.not %{{.*}} : tensor<4xi1>
  %17 = nd.not %b : tensor<4xi1>
  // CHECK: nd.stop_gradient
  %18 = nd.stop_gradient %x : tensor<4xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<2x3xf64>, %n: tensor<i64>, %b: tensor<0xi1>) {
  // CHECK: nd.add %{{.*}}, %{{.*}} : tensor<2x3xf64>
  %0 = nd.add %x, %x : tensor<2x3xf64>
  // CHECK: nd.sub
  %1 = nd.sub %x, %x : tensor<2x3xf64>
  // CHECK: nd.mul
  %2 = nd.mul %x, %x : tensor<2x3xf64>
  // CHECK: nd.div
  %3 = nd.div %x, %x : tensor<2x3xf64>
  // CHECK: nd.pow
  %4 = nd.pow %x, %x : tensor<2x3xf64>
  // CHECK: nd.min %{{.*}}, %{{.*}} : tensor<i64>
  %5 = nd.min %n, %n : tensor<i64>
  // CHECK: nd.max
  %6 = nd.max %n, %n : tensor<i64>
  // CHECK: nd.rem
  %7 = nd.rem %n, %n : tensor<i64>
  // CHECK: nd.floordiv
  %8 = nd.floordiv %n, %n : tensor<i64>
  // CHECK: nd.and %{{.*}}, %{{.*}} : tensor<0xi1>
  %9 = nd.and %b, %b : tensor<0xi1>
  // CHECK: nd.or
  %10 = nd.or %b, %b : tensor<0xi1>
  // CHECK: nd.compare lt %{{.*}}, %{{.*}} : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
  %11 = nd.compare lt %x, %x : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
  // CHECK: nd.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %12 = nd.select %11, %x, %x : (tensor<2x3xi1>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  // CHECK: nd.cast %{{.*}} : tensor<2x3xf64> -> tensor<2x3xf32>
  %13 = nd.cast %x : tensor<2x3xf64> -> tensor<2x3xf32>
  return
}
