//===- Layout.h - Documents that break lines where they must ----*- C++ -*-===//
//
// A Doc is text with places at which it may break. A group prints on one line if it fits; a fill breaks only
// at those of its separators where the next part would not fit. After Wadler ("A prettier printer"), with
// fills as in his section on them and with comments to the right of code. Private to frontend/.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <memory>
#include <string>
#include <vector>

namespace dyn::print {

struct DocNode;
using Doc = std::shared_ptr<const DocNode>;

struct DocNode {
  enum class Kind : unsigned char {
    Text,     ///< `text`
    Line,     ///< `text` if flat, else a line end
    HardLine, ///< a line end; whatever contains it is broken
    Comment,  ///< `text` to the right of the code, aligned with its neighbours; a line end must follow
    Nest,     ///< parts, indented by `indent` more
    Align,    ///< parts, indented to the column where they begin
    Concat,   ///< parts
    Group,    ///< parts, flat if they fit
    Fill      ///< parts: content, separator, content …
  } kind;
  std::string text;
  int indent = 0;
  bool hard = false; ///< contains a HardLine, so that it never is flat
  std::vector<Doc> parts;
};

/// Columns that code may fill.
inline constexpr int lineWidth = 100;

Doc text(std::string text);
/// `flat` on one line, a line end when broken.
Doc line(std::string flat = " ");
Doc hardLine();
Doc comment(std::string text);
Doc nest(int indent, Doc doc);
Doc align(Doc doc);
Doc concat(std::vector<Doc> parts);
Doc group(std::vector<Doc> parts);
Doc fill(std::vector<Doc> parts);
bool isBroken(const Doc &doc);

/// Lays a document out. Lines have no spaces at their end; comments of neighbouring lines share a column.
std::string layout(const Doc &doc, int width = lineWidth);

} // namespace dyn::print
