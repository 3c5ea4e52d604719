//===- Layout.cpp - Documents that break lines where they must --*- C++ -*-===//

#include "frontend/print/Layout.h"

#include "frontend/Source.h"

#include <algorithm>

using namespace dyn;
using namespace dyn::print;
using Kind = DocNode::Kind;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static Doc make(Kind kind, std::string text, int indent, std::vector<Doc> parts) {
  auto node = std::make_shared<DocNode>();
  node->kind = kind;
  node->text = std::move(text);
  node->indent = indent;
  node->hard = kind == Kind::HardLine || kind == Kind::Comment ||
               std::any_of(parts.begin(), parts.end(), [](const Doc &part) { return part->hard; });
  node->parts = std::move(parts);
  return node;
}

Doc print::text(std::string text) { return make(Kind::Text, std::move(text), 0, {}); }
Doc print::line(std::string flat) { return make(Kind::Line, std::move(flat), 0, {}); }
Doc print::hardLine() { return make(Kind::HardLine, "", 0, {}); }
Doc print::comment(std::string text) { return make(Kind::Comment, std::move(text), 0, {}); }
Doc print::nest(int indent, Doc doc) { return make(Kind::Nest, "", indent, {std::move(doc)}); }
Doc print::align(Doc doc) { return make(Kind::Align, "", 0, {std::move(doc)}); }
Doc print::concat(std::vector<Doc> parts) { return make(Kind::Concat, "", 0, std::move(parts)); }
Doc print::group(std::vector<Doc> parts) { return make(Kind::Group, "", 0, std::move(parts)); }
Doc print::fill(std::vector<Doc> parts) { return make(Kind::Fill, "", 0, std::move(parts)); }
bool print::isBroken(const Doc &doc) { return doc->hard; }

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

namespace {

/// A document with the way in which it is to be printed. `next` counts the parts of a fill already done.
struct Task {
  const DocNode *doc;
  int indent;
  bool flat;
  size_t next = 0;
};

/// A finished line: code, and the comment to its right.
struct Line {
  std::string code;
  std::string comment;
};

class Printer {
public:
  explicit Printer(int width) : width(width) {}

  std::string run(const Doc &doc) {
    tasks.push_back({doc.get(), 0, false});
    while (!tasks.empty()) {
      Task task = tasks.back();
      tasks.pop_back();
      step(task);
    }
    endLine(0);
    alignComments();
    std::string out;
    for (const Line &line : lines) {
      out += line.code;
      out += line.comment;
      out += '\n';
    }
    return out;
  }

private:
  void step(const Task &task);
  void stepFill(Task task);
  bool fits(const DocNode *doc, int indent) const;
  void endLine(int indent);
  void alignComments();

  void push(const std::vector<Doc> &parts, int indent, bool flat) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      tasks.push_back({part->get(), indent, flat});
  }
  void write(const std::string &text) {
    code += text;
    column += static_cast<int>(codePoints(text));
  }

  int width;
  int column = 0;
  std::string code, comment;
  std::vector<Task> tasks;
  std::vector<Line> lines;
};

/// Far to the right, alignment would leave no room.
constexpr int mostAligned = 64;

void Printer::step(const Task &task) {
  const DocNode &doc = *task.doc;
  switch (doc.kind) {
  case Kind::Text:
    return write(doc.text);
  case Kind::Line:
    return task.flat ? write(doc.text) : endLine(task.indent);
  case Kind::HardLine:
    return endLine(task.indent);
  case Kind::Comment:
    comment += (comment.empty() ? "" : "  ") + doc.text;
    return;
  case Kind::Nest:
    return push(doc.parts, task.indent + doc.indent, task.flat);
  case Kind::Align:
    return push(doc.parts, column <= mostAligned ? column : task.indent + 4, task.flat);
  case Kind::Concat:
    return push(doc.parts, task.indent, task.flat);
  case Kind::Group:
    return push(doc.parts, task.indent, task.flat || (!doc.hard && fits(&doc, task.indent)));
  case Kind::Fill:
    return stepFill(task);
  }
}

/// Prints one content and decides on the separator behind it.
void Printer::stepFill(Task task) {
  const auto &parts = task.doc->parts;
  if (task.flat)
    return push(parts, task.indent, true);
  if (task.next >= parts.size())
    return;
  if (task.next % 2 == 1) { // a separator: flat if the content behind it then fits
    const DocNode *separator = parts[task.next].get(), *content = parts[task.next + 1].get();
    int gap = static_cast<int>(separator->text.size());
    tasks.push_back({task.doc, task.indent, false, task.next + 2});
    column += gap;
    bool stays = !separator->hard && !content->hard && fits(content, task.indent);
    column -= gap;
    tasks.back().next = task.next + 1;
    tasks.push_back({separator, task.indent, stays});
    return;
  }
  tasks.push_back({task.doc, task.indent, false, task.next + 1});
  tasks.push_back({parts[task.next].get(), task.indent, false});
}

/// Whether a document, printed flat, and what must follow it on its line stay within the width.
bool Printer::fits(const DocNode *doc, int indent) const {
  int room = width - column;
  std::vector<Task> todo{{doc, indent, true}};
  size_t rest = tasks.size();
  while (room >= 0) {
    if (todo.empty()) {
      if (rest == 0)
        return true;
      todo.push_back(tasks[--rest]);
    }
    Task task = todo.back();
    todo.pop_back();
    const DocNode &node = *task.doc;
    switch (node.kind) {
    case Kind::Text:
      room -= static_cast<int>(codePoints(node.text));
      break;
    case Kind::Line:
      if (!task.flat)
        return true;
      room -= static_cast<int>(codePoints(node.text));
      break;
    case Kind::HardLine:
      return true;
    case Kind::Comment:
      break;
    case Kind::Fill: // behind the document: may break at its next separator
      if (!task.flat && task.next % 2 == 1 && task.next < node.parts.size())
        return true;
      for (size_t i = node.parts.size(); i-- > task.next;)
        todo.push_back({node.parts[i].get(), task.indent, task.flat});
      break;
    default: // a group behind the document may break at its first line
      for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part)
        todo.push_back({part->get(), task.indent, task.flat});
      break;
    }
  }
  return false;
}

void Printer::endLine(int indent) {
  size_t end = code.find_last_not_of(' ');
  code.resize(end == std::string::npos ? 0 : end + 1);
  lines.push_back({std::move(code), std::move(comment)});
  code.assign(static_cast<size_t>(indent), ' ');
  comment.clear();
  column = indent;
}

/// Puts the comments of neighbouring lines two spaces behind the longest of them.
void Printer::alignComments() {
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t end = i, longest = 0;
    for (; end < lines.size() && !lines[end].comment.empty(); ++end)
      longest = std::max(longest, codePoints(lines[end].code));
    for (; i < end; ++i)
      lines[i].comment.insert(0, longest + 2 - codePoints(lines[i].code), ' ');
  }
}

} // namespace

std::string print::layout(const Doc &doc, int width) { return Printer(width).run(doc); }
