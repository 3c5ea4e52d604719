//===- Fmt.h - dync fmt -----------------------------------------*- C++ -*-===//

#pragma once

#include <string>

namespace dyn {

/// Formats one file in place. With `check` nothing is written, and a file that would change is named on standard
/// output; with `toStdout` the text goes to standard output instead. The result is the exit status: 0, or 1 for
/// a syntax error (then the file stays as it is), for a file that cannot be read or written, and under `check`
/// for one that would change. A file is replaced in one step, its mode kept; one that is canonical is left alone.
int runFmt(const std::string &path, bool check, bool toStdout);

} // namespace dyn
