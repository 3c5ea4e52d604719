// RUN: %dyn-opt %s --multiply-by-reciprocals --cse | FileCheck %s

// Tests that an array over a number is two products, with the reciprocal of the number at a usual size and with the power of
// two that it then lacks.
// CHECK-LABEL: func.func @number
// CHECK-SAME: (%[[X:.*]]: tensor<40xf32>, %[[S:.*]]: tensor<f32>)
// CHECK-DAG: %[[ONE:.*]] = nd.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[LARGE:.*]] = nd.constant dense<1.84467441E+19> : tensor<f32>
// CHECK-DAG: %[[SMALL:.*]] = nd.constant dense<5.42101086E-20> : tensor<f32>
// CHECK: %[[SIZE:.*]] = nd.abs %[[S]]
// CHECK: nd.compare gt %[[SIZE]], %[[LARGE]]
// CHECK: %[[C:.*]] = nd.select %{{.*}}, %[[SMALL]], %{{.*}}
// CHECK: %[[USUAL:.*]] = nd.mul %[[S]], %[[C]]
// CHECK: %[[R:.*]] = nd.div %[[ONE]], %[[USUAL]] : tensor<f32>
// CHECK: %[[RS:.*]] = nd.broadcast %[[R]] dims []
// CHECK: %[[P:.*]] = nd.mul %[[X]], %[[RS]]
// CHECK: %[[CS:.*]] = nd.broadcast %[[C]] dims []
// CHECK: nd.mul %[[P]], %[[CS]]
// CHECK-NOT: nd.div
// CHECK: return
func.func @number(%x: tensor<40xf32>, %s: tensor<f32>) -> tensor<40xf32> {
  %d = nd.broadcast %s dims [] : tensor<f32> -> tensor<40xf32>
  %r = nd.div %x, %d : tensor<40xf32>
  return %r : tensor<40xf32>
}

// Tests that what is exact or short stays: f64, a number that is known, a divisor for each row, few elements.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: nd.div
// CHECK-NOT: nd.div
func.func @others(%x: tensor<40xf64>, %s: tensor<f64>, %y: tensor<40xf32>, %z: tensor<4xf32>, %t: tensor<f32>,
                  %m: tensor<4x40xf32>) -> (tensor<40xf64>, tensor<40xf32>, tensor<4x40xf32>, tensor<4xf32>) {
  %d = nd.broadcast %s dims [] : tensor<f64> -> tensor<40xf64>
  %a = nd.div %x, %d : tensor<40xf64>
  %three = nd.constant dense<3.0> : tensor<40xf32>
  %b = nd.div %y, %three : tensor<40xf32>
  %rows = nd.broadcast %z dims [0] : tensor<4xf32> -> tensor<4x40xf32>
  %c = nd.div %m, %rows : tensor<4x40xf32>
  %t4 = nd.broadcast %t dims [] : tensor<f32> -> tensor<4xf32>
  %e = nd.div %z, %t4 : tensor<4xf32>
  return %a, %b, %c, %e : tensor<40xf64>, tensor<40xf32>, tensor<4x40xf32>, tensor<4xf32>
}
