// The page docs/errors.md is built into dync; an entry begins with `### CODE` and ends where the next heading begins.

#include "frontend/driver/Explain.h"

#include "frontend/Library.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace dyn {
namespace {

/// `e301` and `301` as `E0301`; text that is no code stays as it is.
std::string normalized(const std::string &asked) {
  std::string digits = asked.substr(!asked.empty() && std::toupper(static_cast<unsigned char>(asked[0])) == 'E');
  bool isNumber = !digits.empty() && digits.size() <= 4 &&
                  std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
  return isNumber ? "E" + std::string(4 - digits.size(), '0') + digits : asked;
}

/// Calls `line(code, text)` for each line of each entry; code is empty outside entries.
template <typename Line> void forEachLine(Line line) {
  for (const char *entry : embeddedErrors()) {
    std::istringstream page(entry);
    std::string text, code;
    while (std::getline(page, text)) {
      if (text.starts_with("#"))
        code = text.starts_with("### ") ? text.substr(4) : "";
      else if (!code.empty())
        line(code, text);
    }
  }
}

} // namespace

int runExplain(const std::string &asked) {
  const std::string wanted = normalized(asked);
  std::string entry;
  forEachLine([&](const std::string &code, const std::string &text) {
    bool isWording = text.starts_with("> ");
    if (asked.empty() && isWording)
      std::printf("%s  %s\n", code.c_str(), text.c_str() + 2);
    // Fences are Markdown's; the signs before the lines say enough in a terminal.
    if (code == wanted && !text.starts_with("```"))
      entry += (isWording ? "error: " + text.substr(2) + " [" + code + "]" : text) + "\n";
  });
  if (asked.empty())
    return 0;
  if (entry.empty()) {
    std::cerr << "error: no message has the code `" << asked << "`\nhelp: `dync explain` lists all codes\n";
    return 1;
  }
  size_t first = entry.find_first_not_of('\n'), last = entry.find_last_not_of('\n');
  std::printf("%s\n", entry.substr(first, last + 1 - first).c_str());
  return 0;
}

} // namespace dyn
