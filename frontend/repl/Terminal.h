//===- Terminal.h - where the lines of a session come from ------*- C++ -*-===//

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dyn::repl {

class LineSource {
public:
  enum class Event { Line, Interrupted, End };
  virtual ~LineSource() = default;
  /// The next line without its end. `prompt` is shown where a person reads it.
  virtual Event next(const std::string &prompt, std::string &line) = 0;
};

/// What a word may become: whole words that begin like `word`. `line` is all that stands before the cursor, the word too.
using Completer = std::function<std::vector<std::string>(const std::string &line, const std::string &word)>;

/// Lines as they come.
std::unique_ptr<LineSource> plainLines();
/// Line editing, history and completion by libedit. The history of up to 1,000 lines is kept in
/// $XDG_STATE_HOME/dync/history.
std::unique_ptr<LineSource> editedLines(Completer completer);

/// Columns of the terminal, or 80.
size_t terminalWidth();

} // namespace dyn::repl
