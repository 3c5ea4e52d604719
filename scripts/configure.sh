#!/usr/bin/env bash
# configure.sh DIR [cmake options]: the one way to configure a build, so that all of them use the same tools.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake -S . -B "$@" -G Ninja \
  -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22 -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld-22
