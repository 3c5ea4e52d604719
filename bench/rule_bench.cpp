//===- rule_bench.cpp - Any rule at the memory's speed --------------------===//
//
// The update of a train alone, on gradients that are given, beside a STREAM
// triad over as many floats. Reads a line from standard input, answers with one.
//
//   rule_bench PARAMETERS LEAVES THREADS CLAUSES…      a clause such as 'optimizer adamw()'
//
//   round      seconds of one update
//   triad      seconds of one `a = b + 3 c`, 3 floats a parameter
//   bytes      parameters, gradients, states and work arrays of the plan, as a list
//
//===----------------------------------------------------------------------===//
#include "bench/CompiledUpdate.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace dyn::bench;

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: rule_bench PARAMETERS LEAVES THREADS CLAUSES...\n");
    return 2;
  }
  int64_t count = std::atoll(argv[1]), leaves = std::atoll(argv[2]);
  int threads = std::atoi(argv[3]);
  std::string clauses;
  for (int i = 4; i < argc; ++i)
    clauses += std::string("  ") + argv[i] + "\n";
  auto update = CompiledUpdate::make(mixedLeaves(count, leaves), clauses, threads);
  if (!update)
    return 1;
  for (int64_t i = 0; i < count; ++i)
    update->gradients()[i] = 0.01f * std::sin(float(i % 1000));
  Triad triad(count);
  int repeats = static_cast<int>(std::max<int64_t>(1, 5'000'000 / count));
  update->run(repeats);
  triad.seconds(threads, repeats);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "bytes") {
      std::printf("[%lld, %lld, %lld, %lld]\n", (long long)update->bytes("params"), (long long)update->bytes("grads"),
                  (long long)update->bytes("state"), (long long)update->bytes("work"));
    } else if (line == "triad") {
      std::printf("%.6g\n", triad.seconds(threads, repeats));
    } else {
      double start = now();
      update->run(repeats);
      std::printf("%.6g\n", (now() - start) / repeats);
    }
    std::fflush(stdout);
  }
  return 0;
}
