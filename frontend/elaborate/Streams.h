//===- Streams.h - data without end ---------------------------------------===//
#pragma once

#include "frontend/AstWalk.h"
#include "frontend/elaborate/Value.h"

namespace dyn::elab {

/// Whether rows of a declaration are drawn as long as somebody takes them.
inline bool isStream(const ast::DataDecl &data) {
  const ast::NameExpr *root = ast::rootName(*data.source);
  return root && root->name == "stream";
}

/// The split that `s.take(300)` is of a stream: 300 rows of its own, a set.
inline constexpr const char *takenRows = "take";
inline bool isTaken(const Data &data) { return isStream(*data.decl) && data.split == takenRows; }

} // namespace dyn::elab
