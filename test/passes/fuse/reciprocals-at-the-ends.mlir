// RUN: %dyn-run-nd %s --check=2e-7
//
// Tests that what is not finite, zeros and sizes near the ends of the range, over a number, are those of the
// division: reciprocals take its place in a loop.
func.func @extremes() {
  %x = nd.constant dense<[0.0, -0.0, 1.0, -3.0, 1.0e-40, -1.0e-45, 3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-30, 7.0e20, 0.1, 0.0, -0.0, 1.0, -3.0, 1.0e-40, -1.0e-45, 3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-30, 7.0e20, 0.1, 0.0, -0.0, 1.0, -3.0, 1.0e-40, -1.0e-45, 3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-30]> : tensor<40xf32>
  %number = run.read arena 0 offset 0 "number" : tensor<f32>
  %zero = nd.sub %number, %number : tensor<f32>
  %c0 = nd.constant dense<3.0> : tensor<f32>
  %s0 = nd.add %zero, %c0 : tensor<f32>
  %d0 = nd.broadcast %s0 dims [] : tensor<f32> -> tensor<40xf32>
  %r0 = nd.div %x, %d0 : tensor<40xf32>
  run.write %r0 arena 1 offset 0 "quotients" : tensor<40xf32>
  %c1 = nd.constant dense<0.0> : tensor<f32>
  %s1 = nd.add %zero, %c1 : tensor<f32>
  %d1 = nd.broadcast %s1 dims [] : tensor<f32> -> tensor<40xf32>
  %r1 = nd.div %x, %d1 : tensor<40xf32>
  run.write %r1 arena 1 offset 40 "quotients" : tensor<40xf32>
  %c2 = nd.constant dense<-0.0> : tensor<f32>
  %s2 = nd.add %zero, %c2 : tensor<f32>
  %d2 = nd.broadcast %s2 dims [] : tensor<f32> -> tensor<40xf32>
  %r2 = nd.div %x, %d2 : tensor<40xf32>
  run.write %r2 arena 1 offset 80 "quotients" : tensor<40xf32>
  %c3 = nd.constant dense<1.0e-45> : tensor<f32>
  %s3 = nd.add %zero, %c3 : tensor<f32>
  %d3 = nd.broadcast %s3 dims [] : tensor<f32> -> tensor<40xf32>
  %r3 = nd.div %x, %d3 : tensor<40xf32>
  run.write %r3 arena 1 offset 120 "quotients" : tensor<40xf32>
  %c4 = nd.constant dense<-7.0e-39> : tensor<f32>
  %s4 = nd.add %zero, %c4 : tensor<f32>
  %d4 = nd.broadcast %s4 dims [] : tensor<f32> -> tensor<40xf32>
  %r4 = nd.div %x, %d4 : tensor<40xf32>
  run.write %r4 arena 1 offset 160 "quotients" : tensor<40xf32>
  %c5 = nd.constant dense<2.0e-25> : tensor<f32>
  %s5 = nd.add %zero, %c5 : tensor<f32>
  %d5 = nd.broadcast %s5 dims [] : tensor<f32> -> tensor<40xf32>
  %r5 = nd.div %x, %d5 : tensor<40xf32>
  run.write %r5 arena 1 offset 200 "quotients" : tensor<40xf32>
  %c6 = nd.constant dense<6.0e19> : tensor<f32>
  %s6 = nd.add %zero, %c6 : tensor<f32>
  %d6 = nd.broadcast %s6 dims [] : tensor<f32> -> tensor<40xf32>
  %r6 = nd.div %x, %d6 : tensor<40xf32>
  run.write %r6 arena 1 offset 240 "quotients" : tensor<40xf32>
  %c7 = nd.constant dense<-3.0e38> : tensor<f32>
  %s7 = nd.add %zero, %c7 : tensor<f32>
  %d7 = nd.broadcast %s7 dims [] : tensor<f32> -> tensor<40xf32>
  %r7 = nd.div %x, %d7 : tensor<40xf32>
  run.write %r7 arena 1 offset 280 "quotients" : tensor<40xf32>
  %c8 = nd.constant dense<0x7F800000> : tensor<f32>
  %s8 = nd.add %zero, %c8 : tensor<f32>
  %d8 = nd.broadcast %s8 dims [] : tensor<f32> -> tensor<40xf32>
  %r8 = nd.div %x, %d8 : tensor<40xf32>
  run.write %r8 arena 1 offset 320 "quotients" : tensor<40xf32>
  %c9 = nd.constant dense<0x7FC00000> : tensor<f32>
  %s9 = nd.add %zero, %c9 : tensor<f32>
  %d9 = nd.broadcast %s9 dims [] : tensor<f32> -> tensor<40xf32>
  %r9 = nd.div %x, %d9 : tensor<40xf32>
  run.write %r9 arena 1 offset 360 "quotients" : tensor<40xf32>
  return
}
