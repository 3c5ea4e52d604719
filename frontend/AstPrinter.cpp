//===- AstPrinter.cpp - Canonical text of a file ----------------*- C++ -*-===//
//
// Comments and lists, on which the files in print/ build.
//
//===----------------------------------------------------------------------===//

#include "frontend/print/Printer.h"

using namespace dyn;
using namespace dyn::print;
using namespace dyn::ast;

static void newLine(std::vector<Doc> &lines, bool blank) {
  if (blank && !lines.empty())
    lines.push_back(hardLine());
  lines.push_back(hardLine());
}

/// The comments in front of an offset, each on a line of its own.
void AstPrinter::ownLines(std::vector<Doc> &lines, uint32_t before) {
  for (; next < comments.size() && comments[next].span.begin < before; ++next) {
    newLine(lines, comments[next].blankBefore);
    lines.push_back(text(comments[next].text));
  }
}

/// The comments that follow on the same line.
void AstPrinter::rightOf(std::vector<Doc> &parts, uint32_t before) {
  for (; next < comments.size() && !comments[next].ownLine && comments[next].span.begin < before; ++next)
    parts.push_back(comment(comments[next].text));
}

void AstPrinter::item(std::vector<Doc> &lines, const Item &item, uint32_t nextBegin, const ItemDoc &print) {
  ownLines(lines, item.span.begin);
  Doc doc = print();
  bool blank = item.blankBefore;
  // Comments inside for which there is no place go above.
  for (; next < comments.size() && comments[next].span.begin < item.span.end; ++next) {
    newLine(lines, std::exchange(blank, false));
    lines.push_back(text(comments[next].text));
  }
  newLine(lines, blank);
  lines.push_back(std::move(doc));
  rightOf(lines, nextBegin);
}

Doc AstPrinter::list(const char *open, const std::vector<Element> &elements, const char *close, uint32_t end) {
  if (elements.empty())
    return text(std::string(open) + close);
  std::vector<Doc> head, parts;
  for (size_t i = 0; i < elements.size(); ++i) {
    std::vector<Doc> right, content;
    rightOf(right, elements[i].begin);
    bool broken = !right.empty();
    for (; next < comments.size() && comments[next].span.begin < elements[i].begin; ++next) {
      content.push_back(text(comments[next].text));
      content.push_back(hardLine());
      broken = true;
    }
    std::vector<Doc> &left = i == 0 ? head : parts;
    if (i == 0 && broken) {
      head = std::move(right);
      head.push_back(hardLine());
    } else if (i > 0) {
      right.insert(right.begin(), left.back());
      left.back() = concat(std::move(right));
      left.push_back(broken ? hardLine() : line());
    }
    content.push_back(elements[i].doc());
    if (i + 1 < elements.size())
      content.push_back(text(","));
    parts.push_back(content.size() == 1 ? content[0] : concat(std::move(content)));
  }
  std::vector<Doc> tail;
  if (*close) {
    rightOf(tail, end);
    for (; next < comments.size() && comments[next].span.begin < end; ++next) {
      tail.push_back(hardLine());
      tail.push_back(text(comments[next].text));
    }
    if (!tail.empty())
      tail.push_back(hardLine());
  }
  return concat({text(open), align(concat({concat(std::move(head)), fill(std::move(parts)), concat(std::move(tail))})),
                 text(close)});
}

Doc AstPrinter::commas(const std::vector<Element> &elements) { return list("", elements, "", 0); }

Doc AstPrinter::program(const Program &program) {
  std::vector<Doc> lines;
  const auto &list = program.declarations;
  for (size_t i = 0; i < list.size(); ++i)
    item(lines, *list[i], i + 1 < list.size() ? list[i + 1]->span.begin : ~0u, [&] { return declaration(*list[i]); });
  ownLines(lines, ~0u);
  if (!lines.empty())
    lines.erase(lines.begin()); // the first line needs no line end before it
  return concat(std::move(lines));
}

std::string ast::print(const Program &program) {
  AstPrinter printer(program.comments);
  if (program.declarations.empty() && program.comments.empty())
    return {};
  return layout(printer.program(program));
}

/// For messages: one line, however long.
static std::string onOneLine(const Doc &doc) {
  std::string text = layout(doc, 1 << 20);
  text.pop_back();
  return text;
}

std::string ast::print(const Expr &expr) { return onOneLine(AstPrinter({}).expr(expr)); }
std::string ast::print(const Type &type) { return onOneLine(AstPrinter({}).type(type)); }
