//===- Diagnostics.h - What the compiler says to its user -------*- C++ -*-===//
//
// Every message is a row of DiagnosticKinds.def. Reporting collects; rendering is separate, so that the same
// diagnostics serve a terminal, JSON and tests.
//
//   diags.report(Diag::unknown_name, span, name)
//       .note(declaration, "`adamw` is declared here")
//       .help("write `adamw`");
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Source.h"

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace dyn {

enum class Severity : uint8_t { Error, Warning, Note };

/// One enumerator a row of DiagnosticKinds.def.
enum class Diag : uint16_t {
#define DIAG(code, severity, name, wording) name,
#include "frontend/DiagnosticKinds.def"
};

/// What DiagnosticKinds.def says about a message.
struct DiagInfo {
  std::string_view code;    ///< `E0412`
  Severity severity;
  std::string_view name;    ///< `coupled_examples`
  std::string_view wording; ///< with {0}, {1} … for the arguments
};

const DiagInfo &info(Diag id);

/// A second place that belongs to a message ("declared here"). The span may be invalid.
struct Note {
  Span span;
  std::string text;
};

/// One level of elaboration: what is being built, for what, and where that was asked for. Rendered as
/// "in adamw on `net.dense.0.W: [128, 64]`, from digits.dyn:12".
struct Instantiation {
  std::string what; ///< "adamw on `net.dense.0.W: [128, 64]`"
  Span from;
};

struct Diagnostic {
  Diag id;
  Severity severity;
  Span span;
  std::string text;
  std::vector<Note> notes;
  std::string help; ///< how to mend it; empty if there is nothing to say
  std::vector<Instantiation> chain; ///< innermost first

  std::string_view code() const { return info(id).code; }
};

class DiagnosticEngine;

/// Adds to the diagnostic just reported; cheap, and good until the engine is cleared.
class DiagnosticBuilder {
public:
  DiagnosticBuilder &note(Span span, std::string text);
  DiagnosticBuilder &note(std::string text) { return note(Span(), std::move(text)); }
  DiagnosticBuilder &help(std::string text);
  DiagnosticBuilder &from(Instantiation step);

private:
  friend class DiagnosticEngine;
  DiagnosticBuilder(DiagnosticEngine &engine, size_t index) : engine(engine), index(index) {}
  Diagnostic &get();

  DiagnosticEngine &engine;
  size_t index;
};

/// Collects diagnostics in the order in which they were reported.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sourceManager(sources) {}
  DiagnosticEngine(const DiagnosticEngine &) = delete;
  DiagnosticEngine &operator=(const DiagnosticEngine &) = delete;

  /// Arguments fill {0}, {1} …: strings as they stand, numbers in their shortest form.
  template <class... Args>
  DiagnosticBuilder report(Diag id, Span span, const Args &...args) {
    return reportText(id, span, {toText(args)...});
  }

  const std::vector<Diagnostic> &all() const { return list; }
  size_t errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }
  const SourceManager &sources() const { return sourceManager; }
  void clear();
  /// Takes over what another engine of the same sources holds, each message once a place, as reported here.
  void adopt(const DiagnosticEngine &other);
  /// Puts the diagnostics from number `first` on into the order of the source.
  void sortFrom(size_t first);

  /// The elaboration in progress; what is reported meanwhile carries it. Prefer InstantiationScope.
  void push(Instantiation step) { stack.push_back(std::move(step)); }
  void pop() { stack.pop_back(); }

  /// All diagnostics as a terminal shows them.
  std::string render() const;
  std::string render(const Diagnostic &diagnostic) const;
  /// All diagnostics as a JSON array; one object each, with lines and columns from 1.
  std::string renderJson() const;

private:
  friend class DiagnosticBuilder;
  static std::string toText(std::string_view text) { return std::string(text); }
  static std::string toText(const char *text) { return text; }
  static std::string toText(char c) { return std::string(1, c); }
  static std::string toText(bool value) { return value ? "true" : "false"; }
  static std::string toText(double value);
  static std::string toText(std::integral auto value) { return std::to_string(value); }

  DiagnosticBuilder reportText(Diag id, Span span, const std::vector<std::string> &args);

  const SourceManager &sourceManager;
  std::vector<Diagnostic> list;
  std::vector<Instantiation> stack;
  size_t errors = 0;
};

/// Marks what is being elaborated for as long as it lives.
class InstantiationScope {
public:
  InstantiationScope(DiagnosticEngine &engine, std::string what, Span from) : engine(engine) {
    engine.push({std::move(what), from});
  }
  ~InstantiationScope() { engine.pop(); }
  InstantiationScope(const InstantiationScope &) = delete;
  InstantiationScope &operator=(const InstantiationScope &) = delete;

private:
  DiagnosticEngine &engine;
};

/// The candidate that is most likely meant by a misspelt name: least edit distance (a swap of neighbours
/// counts one), at most a third of the name's length; ties go to the earlier one. Empty if none is near.
std::string_view nearest(std::string_view name, const std::vector<std::string_view> &candidates);
std::string nearest(std::string_view name, const std::vector<std::string> &candidates);

} // namespace dyn
