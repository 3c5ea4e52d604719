//===- Show.h - values as a session prints them -----------------*- C++ -*-===//

#pragma once

#include "frontend/elaborate/RunResult.h"

namespace dyn::repl {

/// Numbers row-major, with the shape that they have.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
  elab::Elem elem = elab::Elem::Real;
  std::vector<bool> missing = {}; ///< by number; empty: none is
};

/// The numbers on as many lines as they need, long dimensions shortened to their ends; lines after the first are
/// indented by `indent`. "[1, 2, 3]"
std::string show(const Array &array, size_t indent);
/// "[3]", "int[2, 2]", "real"
std::string typeOf(const Array &array);

/// What a declaration says of itself before its body: "fn area(w, h) -> real".
std::string signature(const ast::Decl &decl, const SourceManager &sources);

/// A value that holds no arrays still to be computed, with its type: "[1, 2] : [2]". `indent`: of later lines.
std::string show(const elab::Value &value, const SourceManager &sources, size_t indent);

} // namespace dyn::repl
