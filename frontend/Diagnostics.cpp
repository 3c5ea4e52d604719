//===- Diagnostics.cpp - Collecting and rendering messages ------*- C++ -*-===//

#include "frontend/Diagnostics.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

using namespace dyn;

static const DiagInfo table[] = {
#define DIAG(code, severity, name, wording) {#code, Severity::severity, #name, wording},
#include "frontend/DiagnosticKinds.def"
};

const DiagInfo &dyn::info(Diag id) { return table[static_cast<size_t>(id)]; }

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

Diagnostic &DiagnosticBuilder::get() { return engine.list[index]; }

DiagnosticBuilder &DiagnosticBuilder::note(Span span, std::string text) {
  get().notes.push_back({span, std::move(text)});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::help(std::string text) {
  get().help = std::move(text);
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::from(Instantiation step) {
  get().chain.push_back(std::move(step));
  return *this;
}

/// Replaces {0} … {9} in one pass, so that braces in an argument stay as they are.
static std::string fill(std::string_view wording, const std::vector<std::string> &args) {
  std::string text;
  for (size_t i = 0; i < wording.size(); ++i) {
    bool isHole = i + 2 < wording.size() && wording[i] == '{' && wording[i + 1] >= '0' && wording[i + 1] <= '9' &&
                  wording[i + 2] == '}';
    size_t number = isHole ? static_cast<size_t>(wording[i + 1] - '0') : 0;
    if (!isHole || number >= args.size()) {
      text += wording[i];
      continue;
    }
    text += args[number];
    i += 2;
  }
  return text;
}

DiagnosticBuilder DiagnosticEngine::reportText(Diag id, Span span, const std::vector<std::string> &args) {
  Diagnostic diagnostic{id, info(id).severity, span, fill(info(id).wording, args), {}, {}, {}};
  diagnostic.chain.assign(stack.rbegin(), stack.rend());
  if (diagnostic.severity == Severity::Error)
    ++errors;
  list.push_back(std::move(diagnostic));
  return DiagnosticBuilder(*this, list.size() - 1);
}

void DiagnosticEngine::adopt(const DiagnosticEngine &other) {
  for (const Diagnostic &diagnostic : other.list) {
    bool isKnown = std::any_of(list.begin(), list.end(), [&](const Diagnostic &mine) {
      return mine.id == diagnostic.id && mine.span.file == diagnostic.span.file &&
             mine.span.begin == diagnostic.span.begin && mine.text == diagnostic.text;
    });
    if (isKnown)
      continue;
    list.push_back(diagnostic);
    errors += diagnostic.severity == Severity::Error;
    for (auto step = stack.rbegin(); step != stack.rend(); ++step)
      list.back().chain.push_back(*step);
  }
}

void DiagnosticEngine::clear() {
  list.clear();
  errors = 0;
}

void DiagnosticEngine::sortFrom(size_t first) {
  // Insertion keeps equals in the order of their reports; the list is short.
  auto begin = list.begin() + static_cast<ptrdiff_t>(std::min(first, list.size()));
  auto before = [](const Diagnostic &a, const Diagnostic &b) {
    return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
  };
  for (auto next = begin; next != list.end(); ++next)
    std::rotate(std::upper_bound(begin, next, *next, before), next, next + 1);
}

std::string DiagnosticEngine::toText(double value) {
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

//===----------------------------------------------------------------------===//
// Rendering for people
//===----------------------------------------------------------------------===//

static const char *word(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "error";
}

/// The line of a span with its part underlined: `^` where it begins, `~` as far as it reaches on that line.
static std::string excerpt(const SourceFile &source, Span span) {
  LineColumn at = source.lineColumn(span.begin);
  std::string_view line = source.line(at.line);
  if (line.find_first_not_of(" \t") == std::string_view::npos)
    return {};
  uint32_t offset = span.begin - source.lineBegin(at.line);
  offset = static_cast<uint32_t>(std::min<size_t>(offset, line.size()));
  // A very long line is shown around the place only.
  constexpr size_t before = 80, after = 100;
  size_t from = offset > before ? offset - before : 0;
  size_t to = std::min(line.size(), static_cast<size_t>(offset) + after);
  while (from > 0 && (static_cast<unsigned char>(line[from]) & 0xC0u) == 0x80u)
    --from;
  while (to < line.size() && (static_cast<unsigned char>(line[to]) & 0xC0u) == 0x80u)
    ++to;

  std::string shown, marks;
  for (size_t i = from; i < to; ++i) {
    auto c = static_cast<unsigned char>(line[i]);
    bool control = c < 0x20 || c == 0x7F;
    shown += control ? ' ' : line[i];
    if (i < offset && (c & 0xC0u) != 0x80u)
      marks += ' ';
  }
  size_t end = std::clamp<size_t>(static_cast<size_t>(offset) + span.size(), offset, to);
  size_t width = codePoints(line.substr(offset, end - offset));
  marks += '^';
  if (width > 1)
    marks.append(width - 1, '~');
  return "  " + shown + "\n  " + marks + "\n";
}

static std::string place(const SourceManager &sources, Span span) {
  std::string text = sources.describe(span);
  return text.empty() ? text : text + ": ";
}

/// A path that a recursion made may be as long as the recursion is deep.
static std::string shortened(const std::string &text) {
  constexpr size_t most = 120, kept = 50;
  return text.size() <= most ? text : text.substr(0, kept) + " … " + text.substr(text.size() - kept);
}

std::string DiagnosticEngine::render(const Diagnostic &diagnostic) const {
  const SourceManager &sources = sourceManager;
  std::string out = place(sources, diagnostic.span) + word(diagnostic.severity) + ": " + diagnostic.text + " [" +
                    std::string(diagnostic.code()) + "]\n";
  if (const SourceFile *source = sources.file(diagnostic.span))
    out += excerpt(*source, diagnostic.span);
  for (const Note &note : diagnostic.notes) {
    out += place(sources, note.span) + "note: " + note.text + "\n";
    if (const SourceFile *source = sources.file(note.span))
      out += excerpt(*source, note.span);
  }
  // Of a long chain the ends say most; what recurses fills the middle.
  constexpr size_t shownInside = 4, shownOutside = 3;
  size_t levels = diagnostic.chain.size();
  for (size_t i = 0; i < levels; ++i) {
    if (i == shownInside && levels > shownInside + shownOutside + 1) {
      out += "note: " + std::to_string(levels - shownInside - shownOutside) + " more levels\n";
      i = levels - shownOutside;
    }
    const Instantiation &step = diagnostic.chain[i];
    out += "note: in " + shortened(step.what);
    if (const SourceFile *source = sources.file(step.from))
      out += ", from " + source->path() + ":" + std::to_string(source->lineColumn(step.from.begin).line);
    out += "\n";
  }
  if (!diagnostic.help.empty())
    out += "help: " + diagnostic.help + "\n";
  return out;
}

std::string DiagnosticEngine::render() const {
  std::string out;
  for (const Diagnostic &diagnostic : list)
    out += render(diagnostic);
  return out;
}

//===----------------------------------------------------------------------===//
// Rendering for programs
//===----------------------------------------------------------------------===//

/// A JSON string. Bytes that are no UTF-8 become U+FFFD, so that the output always is.
static std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    char c = text.front();
    size_t bad = findInvalidUtf8(text.substr(0, 4)).value_or(4);
    if (bad == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
      out += buffer;
    } else {
      out += c;
      // The rest of a valid sequence goes along.
      while (text.size() > 1 && (static_cast<unsigned char>(text[1]) & 0xC0u) == 0x80u &&
             static_cast<unsigned char>(c) >= 0xC0u) {
        text.remove_prefix(1);
        out += text.front();
      }
    }
    text.remove_prefix(1);
  }
  return out + "\"";
}

static std::string jsonPlace(const SourceManager &sources, Span span) {
  const SourceFile *source = sources.file(span);
  if (!source)
    return "\"file\": null";
  LineColumn from = source->lineColumn(span.begin), to = source->lineColumn(span.end);
  return "\"file\": " + quote(source->path()) + ", \"line\": " + std::to_string(from.line) +
         ", \"column\": " + std::to_string(from.column) + ", \"endLine\": " + std::to_string(to.line) +
         ", \"endColumn\": " + std::to_string(to.column);
}

static std::string json(const SourceManager &sources, const Diagnostic &diagnostic) {
  std::string out = "{\"code\": " + quote(diagnostic.code()) + ", \"severity\": " + quote(word(diagnostic.severity)) +
                    ", " + jsonPlace(sources, diagnostic.span) + ", \"message\": " + quote(diagnostic.text) +
                    ", \"notes\": [";
  for (size_t i = 0; i < diagnostic.notes.size(); ++i)
    out += std::string(i ? ", " : "") + "{" + jsonPlace(sources, diagnostic.notes[i].span) +
           ", \"message\": " + quote(diagnostic.notes[i].text) + "}";
  out += "], \"chain\": [";
  for (size_t i = 0; i < diagnostic.chain.size(); ++i)
    out += std::string(i ? ", " : "") + "{" + jsonPlace(sources, diagnostic.chain[i].from) +
           ", \"in\": " + quote(diagnostic.chain[i].what) + "}";
  return out + "], \"help\": " + (diagnostic.help.empty() ? "null" : quote(diagnostic.help)) + "}";
}

std::string DiagnosticEngine::renderJson() const {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i)
    out += (i ? ",\n " : "") + json(sourceManager, list[i]);
  return out + "]\n";
}

//===----------------------------------------------------------------------===//
// Near names
//===----------------------------------------------------------------------===//

/// Edit distance with swaps of neighbours (optimal string alignment), on bytes.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    old[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], older[j - 2] + 1);
    }
    older.swap(old);
    old.swap(now);
  }
  return old[b.size()];
}

/// Letters that two names begin with alike.
static size_t commonStart(std::string_view a, std::string_view b) {
  return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first - a.begin();
}

std::string_view dyn::nearest(std::string_view name, const std::vector<std::string_view> &candidates) {
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string_view found;
  for (std::string_view candidate : candidates) {
    size_t apart = distance(name, candidate);
    // One letter is near every other one: a wholly different name is no help.
    if (apart >= std::min(name.size(), candidate.size()))
      continue;
    // Of two as near, the one that goes astray later.
    if (apart < best || (apart == best && !found.empty() && commonStart(name, candidate) > commonStart(name, found))) {
      best = apart;
      found = candidate;
    }
  }
  return found;
}

std::string dyn::nearest(std::string_view name, const std::vector<std::string> &candidates) {
  std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return std::string(nearest(name, views));
}
