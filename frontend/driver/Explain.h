//===- Explain.h - dync explain ---------------------------------*- C++ -*-===//

#pragma once

#include <string>

namespace dyn {

/// Prints the entry of docs/errors.md for a code (`E0301`, `e301`, `301`), or without one a line for each code. 1 for a
/// code that no message has.
int runExplain(const std::string &code);

} // namespace dyn
