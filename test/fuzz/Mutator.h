//===- Mutator.h - programs with something broken ---------------*- C++ -*-===//
#ifndef DYN_TEST_FUZZ_MUTATOR_H
#define DYN_TEST_FUZZ_MUTATOR_H

#include <cctype>
#include <random>
#include <string>
#include <vector>

namespace dyn::fuzz {

/// Changes texts by bytes and by words; the same seed makes the same changes.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  /// One to four changes: half of them keep most programs of words whole (another name or number of the same text),
  /// so that what comes after the parser sees them too.
  std::string mutate(std::string text) {
    for (size_t times = 1 + below(4); times > 0; --times)
      switch (below(6)) {
      case 0:
        text = mutateBytes(text);
        break;
      case 1:
      case 2:
        text = mutatePieces(text);
        break;
      default:
        text = mutateKindly(text);
      }
    return text;
  }

  /// A part of at most some 1,200 bytes, from the beginning of a declaration on.
  std::string excerpt(const std::string &text) {
    constexpr size_t most = 1200;
    if (text.size() <= most)
      return text;
    size_t begin = text.find("\n\n", below(text.size() - most / 2));
    return text.substr(begin == std::string::npos ? text.size() - most : begin, most);
  }

private:
  size_t below(size_t n) { return n == 0 ? 0 : random() % n; }
  static bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  /// A program as pieces: words, marks, spaces.
  static std::vector<std::string> pieces(const std::string &text) {
    std::vector<std::string> result;
    for (size_t i = 0; i < text.size();) {
      size_t end = i + 1;
      while (isWord(text[i]) && end < text.size() && isWord(text[end]))
        ++end;
      result.push_back(text.substr(i, end - i));
      i = end;
    }
    return result;
  }

  static std::string joined(const std::vector<std::string> &list) {
    std::string result;
    for (const std::string &piece : list)
      result += piece;
    return result;
  }

  std::string mutateBytes(std::string text) {
    static const std::string odd("\0\xff\xc3\xe2\r\t\"#\\{([])};", 16);
    if (text.empty())
      return text;
    size_t at = below(text.size());
    switch (below(5)) {
    case 0:
      return text.erase(at, 1 + below(8));
    case 1:
      return text.insert(at, 1, odd[below(odd.size())]);
    case 2:
      text[at] = static_cast<char>(below(256));
      return text;
    case 3:
      std::swap(text[at], text[below(text.size())]);
      return text;
    default:
      return text.substr(0, at);
    }
  }

  std::string mutatePieces(const std::string &text) {
    static const std::vector<std::string> words = {
        "fn",   "if",   "then",  "else", "for",  "in",  "while", "limit", "repeat", "return", "and", "not", "none",
        "data", "loss", "train", "step", "with", "on",  "(",     ")",     "[",      "]",      "{",   "}",   "=",
        "<-",   "->",   "~",     "..",   "+",    "-",   "*",     "//",    "@",      "^",      ".",   ",",   ":",
        ";",    "\n",   " ",     "# c",  "0x",   "1e9", "\"s\"", "state", "emit",   "send",   "é",   "==",  "<"};
    std::vector<std::string> list = pieces(text);
    if (list.empty())
      return words[below(words.size())];
    auto at = list.begin() + static_cast<ptrdiff_t>(below(list.size()));
    switch (below(5)) {
    case 0:
      list.erase(at);
      break;
    case 1:
      list.insert(at, std::string(*at));
      break;
    case 2:
      std::swap(*at, list[below(list.size())]);
      break;
    case 3:
      list.insert(at, words[below(words.size())]);
      break;
    default:
      *at = words[below(words.size())];
    }
    return joined(list);
  }

  /// A word of the text in the place of another of its kind, another number, another operator.
  std::string mutateKindly(const std::string &text) {
    static const std::vector<std::string> numbers = {"0", "1", "2", "3", "7", "0.5", "1e-3", "100", "1_000_000"};
    static const std::vector<std::string> marks = {"+", "-", "*", "/", "@", "^", "<", ">", "%"};
    std::vector<std::string> list = pieces(text);
    std::vector<size_t> places;
    for (size_t i = 0; i < list.size(); ++i)
      if (kindOf(list[i]) != ' ')
        places.push_back(i);
    if (places.empty())
      return text;
    std::string &piece = list[places[below(places.size())]];
    if (kindOf(piece) == '0')
      piece = numbers[below(numbers.size())];
    else if (kindOf(piece) == '+')
      piece = marks[below(marks.size())];
    else
      for (int tries = 0; tries < 8; ++tries)
        if (const std::string &other = list[places[below(places.size())]]; kindOf(other) == 'a') {
          piece = std::string(other);
          break;
        }
    return joined(list);
  }

  /// 0: number, a: word, +: operator, space: anything else.
  static char kindOf(const std::string &piece) {
    if (std::isdigit(static_cast<unsigned char>(piece[0])))
      return '0';
    if (isWord(piece[0]))
      return 'a';
    return std::string("+-*/@^<>%").find(piece[0]) != std::string::npos ? '+' : ' ';
  }

  std::mt19937_64 random;
};

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_MUTATOR_H
