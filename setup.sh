#!/usr/bin/env bash
# Sets up a fresh Debian 12: installs what the build needs, builds into build/ and trains examples/03-fashion-mnist.dyn.
#
#   ./setup.sh               everything
#   ./setup.sh --no-install  builds and trains only
#   ./setup.sh --no-train    installs and builds only
set -euo pipefail
cd "$(dirname "$0")"

packages=(
  build-essential cmake ninja-build ccache python3 # build and tests
  clang-22 lld-22 libclang-rt-22-dev               # compiler, linker, sanitizers
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  antlr4 libantlr4-runtime-dev                     # grammar/
  libdnnl-dev                                      # peer of the benchmark of products
  libcli11-dev nlohmann-json3-dev zlib1g-dev libzip-dev libxxhash-dev
  liblapack-dev libblas-dev libgfortran-12-dev     # decompositions of matrices
  libedit-dev                                      # dync repl
  libgtest-dev libmpfr-dev python3-venv            # tests
  dataset-fashion-mnist                            # examples/03
)

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

if [ "${1:-}" != --no-install ]; then
  missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  if [ "${#missing[@]}" -gt 0 ]; then
    as_root apt-get update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
  fi
  # NVIDIA's assembler, which tests hand the code for GPUs to. Nothing else needs it, so its absence is no failure.
  if [ ! -d build/ptxas ]; then
    mkdir -p build
    { python3 -m venv build/ptxas && build/ptxas/bin/pip install --quiet --no-deps nvidia-cuda-nvcc-cu12==12.9.86; } ||
      { rm -rf build/ptxas; echo "no ptxas from PyPI: the tests that need it are skipped" >&2; }
  fi
fi

scripts/configure.sh build
cmake --build build
[ "${1:-}" = --no-train ] || build/bin/dync run examples/03-fashion-mnist.dyn
