//===- Chart.h - a series of numbers in a terminal --------------*- C++ -*-===//

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dyn::repl {

/// A line chart in braille dots, `width` columns wide and `height` lines of dots high, with a title, the range of the
/// values on the left and that of the moments below. Values that are not finite are left out.
std::string chart(const std::string &title, const std::vector<double> &at, const std::vector<double> &values,
                  size_t width, size_t height);

} // namespace dyn::repl
