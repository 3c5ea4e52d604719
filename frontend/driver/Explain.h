//===- Explain.h - dync explain ---------------------------------*- C++ -*-===//

#pragma once

#include <string>

namespace dyn {

struct ExplainOptions {
  std::string asked;  ///< a code (`E0301`, `e301`, `301`), a name of the library, or empty
  bool latex = false; ///< of a name, only its equations, as LaTeX
};

/// Prints the entry of docs/errors.md for a code, or without one a line for each code; for a name its header and its
/// equations. 1 for what is neither.
int runExplain(const ExplainOptions &options);

} // namespace dyn
