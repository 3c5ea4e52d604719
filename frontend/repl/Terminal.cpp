#include "frontend/repl/Terminal.h"

#include "frontend/repl/Interrupt.h"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <histedit.h>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dyn::repl {
namespace {

constexpr int historySize = 1000;

/// Where history is kept; empty: nowhere.
std::string historyFile() {
  std::filesystem::path folder;
  if (const char *state = std::getenv("XDG_STATE_HOME"); state && *state)
    folder = state;
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = std::filesystem::path(home) / ".local/state";
  else
    return "";
  folder /= "dync";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? "" : (folder / "history").string();
}

class PlainLines : public LineSource {
public:
  Event next(const std::string &, std::string &line) override {
    return std::getline(std::cin, line) ? Event::Line : Event::End;
  }
};

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':' || c == '/' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The next character, for libedit: 1; 0 at the end; -1 with EINTR after a Ctrl-C.
int readKey(EditLine *, wchar_t *key) {
  std::mbstate_t state = {};
  while (true) {
    if (!awaitInput(STDIN_FILENO)) {
      errno = EINTR;
      return -1;
    }
    char byte;
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (count <= 0)
      return static_cast<int>(count);
    size_t length = std::mbrtowc(key, &byte, 1, &state);
    if (length == static_cast<size_t>(-1)) // no character: dropped
      state = {};
    else if (length != static_cast<size_t>(-2)) // more bytes belong to it
      return 1;
  }
}

class EditedLines : public LineSource {
public:
  explicit EditedLines(Completer completer) : completer(std::move(completer)), file(historyFile()) {
    std::setlocale(LC_CTYPE, "");
    editor = el_init("dync", stdin, stdout, stderr);
    entries = history_init();
    HistEvent event;
    history(entries, &event, H_SETSIZE, historySize);
    history(entries, &event, H_SETUNIQUE, 1);
    if (!file.empty())
      history(entries, &event, H_LOAD, file.c_str());
    el_set(editor, EL_CLIENTDATA, this);
    el_set(editor, EL_PROMPT, &EditedLines::prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, history, entries);
    el_set(editor, EL_GETCFN, &readKey);
    // While an entry is carried out Ctrl-D is a key like others, for the next line: of an end of input the terminal would
    // make a NUL, which the editor takes for "quote the next key".
    el_set(editor, EL_SETTY, "-x", "eof=", nullptr);
    el_set(editor, EL_ADDFN, "complete-name", "Complete a name", &EditedLines::complete);
    el_set(editor, EL_BIND, "^I", "complete-name", nullptr);
    el_source(editor, nullptr); // the person's own ~/.editrc
  }

  ~EditedLines() override {
    HistEvent event;
    if (!file.empty())
      history(entries, &event, H_SAVE, file.c_str());
    history_end(entries);
    el_end(editor);
  }

  Event next(const std::string &text, std::string &line) override {
    shown = text;
    el_set(editor, EL_PREP_TERM, 1); // before the prompt: keys that answer it are the editor's
    int count = 0;
    errno = 0;
    const char *read = el_gets(editor, &count);
    if (!read || count <= 0) {
      bool interrupted = errno == EINTR;
      el_reset(editor);
      std::fputs("\n", stdout);
      return interrupted ? Event::Interrupted : Event::End;
    }
    line.assign(read, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
      line.pop_back();
    HistEvent event;
    if (line.find_first_not_of(" \t") != std::string::npos)
      history(entries, &event, H_ENTER, line.c_str());
    return Event::Line;
  }

private:
  static EditedLines &self(EditLine *editor) {
    void *data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<EditedLines *>(data);
  }
  static char *prompt(EditLine *editor) { return self(editor).shown.data(); }

  /// Inserts what all candidates have in common, or lists them.
  static unsigned char complete(EditLine *editor, int) {
    const LineInfo *info = el_line(editor);
    std::string line(info->buffer, info->cursor);
    size_t begin = line.size();
    while (begin > 0 && isWordCharacter(line[begin - 1]))
      --begin;
    std::string word = line.substr(begin);
    std::vector<std::string> candidates = self(editor).completer(line, word);
    if (candidates.empty())
      return CC_REFRESH_BEEP;
    std::string common = candidates.front();
    for (const std::string &candidate : candidates) {
      size_t same = 0;
      while (same < common.size() && same < candidate.size() && common[same] == candidate[same])
        ++same;
      common.resize(same);
    }
    if (common.size() > word.size()) {
      el_insertstr(editor, common.substr(word.size()).c_str());
      return CC_REFRESH;
    }
    list(candidates);
    return CC_REDISPLAY;
  }

  static void list(const std::vector<std::string> &candidates) {
    size_t widest = 0;
    for (const std::string &candidate : candidates)
      widest = std::max(widest, candidate.size() + 2);
    size_t columns = std::max<size_t>(1, terminalWidth() / widest);
    for (size_t i = 0; i < candidates.size(); ++i)
      std::printf("%s%-*s", i % columns == 0 ? "\n" : "", static_cast<int>(widest), candidates[i].c_str());
    std::fputs("\n", stdout);
    std::fflush(stdout);
  }

  Completer completer;
  std::string file, shown;
  EditLine *editor = nullptr;
  History *entries = nullptr;
};

} // namespace

std::unique_ptr<LineSource> plainLines() { return std::make_unique<PlainLines>(); }
std::unique_ptr<LineSource> editedLines(Completer completer) {
  return std::make_unique<EditedLines>(std::move(completer));
}

size_t terminalWidth() {
  winsize window = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20 ? window.ws_col : 80;
}

} // namespace dyn::repl
