#include "frontend/repl/Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace dyn::repl {
namespace {

/// Dots of the braille block: two columns and four rows a character.
class Canvas {
public:
  Canvas(size_t columns, size_t lines) : columns(columns), cells(columns * lines, 0) {}

  size_t width() const { return columns * 2; }
  size_t height() const { return cells.size() / columns * 4; }

  /// (0, 0) is the lower left.
  void dot(size_t x, size_t y) {
    static constexpr uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t row = height() - 1 - y;
    cells[row / 4 * columns + x / 2] |= bits[row % 4][x % 2];
  }

  std::string line(size_t number) const {
    std::string text;
    for (size_t i = 0; i < columns; ++i) {
      unsigned code = 0x2800u + cells[number * columns + i];
      for (unsigned byte : {0xE0u | code >> 12, 0x80u | (code >> 6 & 0x3F), 0x80u | (code & 0x3F)})
        text += static_cast<char>(byte);
    }
    return text;
  }

private:
  size_t columns;
  std::vector<uint8_t> cells;
};

std::string label(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

struct Range {
  double low, high;

  size_t place(double value, size_t size) const {
    double share = high > low ? (value - low) / (high - low) : 0.5;
    return static_cast<size_t>(std::lround(share * static_cast<double>(size - 1)));
  }
};

/// A straight line of dots.
void connect(Canvas &canvas, size_t x0, size_t y0, size_t x1, size_t y1) {
  auto distance = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
  size_t steps = std::max<size_t>({distance(x0, x1), distance(y0, y1), 1});
  for (size_t i = 0; i <= steps; ++i) {
    double share = static_cast<double>(i) / static_cast<double>(steps);
    auto between = [&](size_t a, size_t b) {
      return static_cast<size_t>(
          std::lround(static_cast<double>(a) + share * (static_cast<double>(b) - static_cast<double>(a))));
    };
    canvas.dot(between(x0, x1), between(y0, y1));
  }
}

std::string padded(const std::string &text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

} // namespace

std::string chart(const std::string &title, const std::vector<double> &at, const std::vector<double> &values,
                  size_t width, size_t height) {
  std::vector<size_t> points;
  for (size_t i = 0; i < values.size() && i < at.size(); ++i)
    if (std::isfinite(values[i]))
      points.push_back(i);
  if (points.empty())
    return title + ": no value yet\n";
  Range x{at[points.front()], at[points.back()]}, y{values[points.front()], values[points.front()]};
  for (size_t i : points) {
    y.low = std::min(y.low, values[i]);
    y.high = std::max(y.high, values[i]);
  }
  std::string top = label(y.high), bottom = label(y.low);
  size_t margin = std::max(top.size(), bottom.size());
  Canvas canvas(std::max<size_t>(width, margin + 12) - margin - 2, std::max<size_t>(height, 2));
  size_t before = points.front();
  for (size_t i : points) {
    connect(canvas, x.place(at[before], canvas.width()), y.place(values[before], canvas.height()),
            x.place(at[i], canvas.width()), y.place(values[i], canvas.height()));
    before = i;
  }
  size_t lines = canvas.height() / 4;
  std::string text = std::string(margin + 2, ' ') + title + "\n";
  for (size_t i = 0; i < lines; ++i)
    text += padded(i == 0           ? top
                   : i + 1 == lines ? bottom
                                    : "",
                   margin) +
            (i == 0 || i + 1 == lines ? " ┤" : " │") + canvas.line(i) + "\n";
  std::string first = label(x.low), last = label(x.high);
  return text + std::string(margin + 2, ' ') + first +
         padded(last, canvas.width() / 2 - std::min(canvas.width() / 2, first.size())) + "\n";
}

} // namespace dyn::repl
