#include "conformance/Samples.h"

#include "mlir/IR/BuiltinTypes.h"

#include <map>
#include <random>

using namespace mlir;

namespace dyn::conformance {
namespace {
using Shape = std::vector<int64_t>;

/// `tensor<2x3xf64>`
std::string type(const Shape &shape, const std::string &element = "f64") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}
std::string list(const Shape &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

/// What builds samples: a random source and the list so far.
class Maker {
public:
  explicit Maker(uint64_t seed) : random(seed) {}
  std::vector<Sample> samples;

  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(random); }
  /// Sizes 0 and 1 are rare but there.
  int64_t size() { return Shape{2, 3, 4, 1, 5, 0}[std::min(below(6), below(8))]; }
  int64_t positive() { return 1 + below(4); }
  Shape shape(int64_t rank) {
    Shape sizes;
    for (int64_t d = 0; d < rank; ++d)
      sizes.push_back(size());
    return sizes;
  }
  Shape anyShape() { return shape(below(4)); }

  /// @f(arguments) returns `result`, of type `resultType`, after `body`.
  void add(const std::string &op, const std::vector<std::string> &arguments, const std::string &body,
           const std::string &results, const std::string &resultTypes, std::vector<Range> ranges = {},
           bool smooth = true) {
    std::string text = "func.func @f(";
    for (size_t i = 0; i < arguments.size(); ++i)
      text += (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + arguments[i];
    text += ") -> (" + resultTypes + ") {\n" + body + "  return " + results + " : " + resultTypes + "\n}\n";
    ranges.resize(arguments.size());
    samples.push_back({"nd." + op, text, ranges, smooth});
  }

  /// One op with one result; its text after the name.
  void simple(const std::string &op, const std::vector<std::string> &arguments, const std::string &rest,
              const std::string &result, std::vector<Range> ranges = {}, bool smooth = true) {
    add(op, arguments, "  %r = nd." + op + rest + "\n", "%r", result, std::move(ranges), smooth);
  }

private:
  std::mt19937_64 random;
};

void addUnary(Maker &m) {
  struct Row {
    const char *op;
    Range range;
    bool smooth;
  };
  const Row rows[] = {{"neg", {}, true},           {"abs", {}, true},          {"sign", {}, true},
                      {"sqrt", {0.1, 4}, true},    {"rsqrt", {0.1, 4}, true},  {"exp", {}, true},
                      {"expm1", {}, true},         {"log", {0.1, 4}, true},    {"log1p", {-0.8, 3}, true},
                      {"sin", {-9, 9}, true},      {"cos", {-9, 9}, true},     {"tanh", {-3, 3}, true},
                      {"sigmoid", {-9, 9}, true},  {"erf", {}, true},          {"floor", {-9, 9}, false},
                      {"ceil", {-9, 9}, false},    {"round", {-9, 9}, false},  {"stop_gradient", {}, false}};
  for (const Row &row : rows) {
    std::string t = type(m.anyShape());
    m.simple(row.op, {t}, " %a : " + t, t, {row.range}, row.smooth);
  }
  for (const char *op : {"neg", "abs", "sign"}) {
    std::string t = type(m.anyShape(), "i64");
    m.simple(op, {t}, " %a : " + t, t, {{-9, 9}});
  }
  std::string t = type(m.anyShape(), "i1");
  m.simple("not", {t}, " %a : " + t, t);
}

void addBinary(Maker &m) {
  struct Row {
    const char *op;
    Range x, y;
  };
  const Row floats[] = {{"add", {}, {}},       {"sub", {}, {}}, {"mul", {}, {}},           {"div", {}, {0.5, 3}},
                        {"pow", {0.2, 3}, {}}, {"min", {}, {}}, {"max", {}, {}},           {"rem", {-9, 9}, {2, 3}}};
  for (const Row &row : floats) {
    std::string t = type(m.anyShape());
    m.simple(row.op, {t, t}, " %a, %b : " + t, t, {row.x, row.y});
  }
  std::string f = type(m.anyShape());
  m.simple("floordiv", {f, f}, " %a, %b : " + f, f, {{-9, 9}, {0.5, 3}}, /*smooth=*/false);
  for (const char *op : {"add", "sub", "mul", "min", "max", "rem", "floordiv"}) {
    std::string t = type(m.anyShape(), "i64");
    m.simple(op, {t, t}, " %a, %b : " + t, t, {{-9, 9}, {-3, 4}});
  }
  for (const char *op : {"and", "or"}) {
    std::string t = type(m.anyShape(), "i1");
    m.simple(op, {t, t}, " %a, %b : " + t, t);
  }
  for (const char *kind : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    Shape shape = m.anyShape();
    std::string element = m.below(2) ? "f64" : "i64", t = type(shape, element), r = type(shape, "i1");
    m.simple("compare", {t, t}, std::string(" ") + kind + " %a, %b : (" + t + ", " + t + ") -> " + r, r,
             {{-3, 3}, {-3, 3}});
  }
  Shape shape = m.anyShape();
  std::string t = type(shape), c = type(shape, "i1");
  m.simple("select", {c, t, t}, " %a, %b, %c : (" + c + ", " + t + ", " + t + ") -> " + t, t);
  for (auto [from, to] : {std::pair("f64", "i64"), {"i64", "f64"}, {"f64", "i1"}, {"i1", "f64"}, {"i1", "i64"},
                          {"i64", "i1"}}) {
    std::string a = type(shape, from), b = type(shape, to);
    m.simple("cast", {a}, " %a : " + a + " -> " + b, b, {{-9, 9}});
  }
  // Both precisions whatever the sample's own.
  m.add("cast", {t}, "  %x = nd.cast %a : " + t + " -> " + t + "\n", "%x", t);
}

void addSources(Maker &m) {
  m.add("constant", {}, "  %r = nd.constant dense<[[1.5, -2.0], [0.1, 3.0]]> : tensor<2x2xf64>\n", "%r",
        "tensor<2x2xf64>");
  m.add("constant", {}, "  %r = nd.constant dense<true> : tensor<3xi1>\n", "%r", "tensor<3xi1>");
  Shape shape = m.shape(1 + m.below(3));
  std::string t = type(shape, "i64");
  m.add("iota", {}, "  %r = nd.iota dim " + std::to_string(m.below(int64_t(shape.size()))) + " : " + t + "\n", "%r",
        t);
  for (auto [dist, element] : {std::pair("uniform", "f64"), {"normal", "f64"}, {"bits", "i64"}}) {
    std::string r = type(m.anyShape(), element);
    m.simple("draw", {"tensor<4xi64>", "tensor<i64>"},
             std::string(" ") + dist + " noise %a, %b site 7 : (tensor<4xi64>, tensor<i64>) -> " + r, r,
             {{0, 100}, {0, 1000}});
  }
}

void addShape(Maker &m) {
  Shape to = m.shape(1 + m.below(3)), dims, from;
  for (int64_t d = 0; d < int64_t(to.size()); ++d)
    if (m.below(2)) {
      dims.push_back(d);
      from.push_back(to[d]);
    }
  m.simple("broadcast", {type(from)}, " %a dims " + list(dims) + " : " + type(from) + " -> " + type(to), type(to));

  Shape box = m.shape(3);
  Shape flat = {box[0] * box[1], box[2]};
  m.simple("reshape", {type(box)}, " %a : " + type(box) + " -> " + type(flat), type(flat));

  const Shape perms[] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
  Shape perm = perms[m.below(4)];
  Shape turned = {box[perm[0]], box[perm[1]], box[perm[2]]};
  m.simple("transpose", {type(box)}, " %a perm " + list(perm) + " : " + type(box) + " -> " + type(turned),
           type(turned));

  for (int round = 0; round < 2; ++round) {
    Shape offsets, sizes, strides, whole;
    for (int d = 0; d < 2; ++d) {
      offsets.push_back(m.below(3));
      sizes.push_back(m.size());
      strides.push_back(1 + m.below(3));
      whole.push_back(offsets[d] + std::max<int64_t>(0, (sizes[d] - 1) * strides[d] + 1) + m.below(3));
    }
    m.simple("slice", {type(whole)},
             " %a offsets " + list(offsets) + " sizes " + list(sizes) + " strides " + list(strides) + " : " +
                 type(whole) + " -> " + type(sizes),
             type(sizes));
  }

  Shape low = {m.below(3), m.below(3)}, high = {m.below(3), m.below(3)}, inner = m.shape(2);
  Shape padded = {low[0] + inner[0] + high[0], low[1] + inner[1] + high[1]};
  m.simple("pad", {type(inner)},
           " %a low " + list(low) + " high " + list(high) + " : " + type(inner) + " -> " + type(padded), type(padded));

  int64_t dim = m.below(2);
  Shape one = m.shape(2), two = one, three = one, all = one;
  two[dim] = m.size();
  three[dim] = m.size();
  all[dim] = one[dim] + two[dim] + three[dim];
  m.simple("concat", {type(one), type(two), type(three)},
           " %a, %b, %c dim " + std::to_string(dim) + " : (" + type(one) + ", " + type(two) + ", " + type(three) +
               ") -> " + type(all),
           type(all));
}

/// Windows over one and two dimensions: overlapping, tiling, with gaps, padded or not.
void addWindows(Maker &m) {
  for (int round = 0; round < 4; ++round) {
    Shape lead = m.shape(m.below(2)), sizes, strides, dilations, low, high, below, places;
    for (int64_t d = 0, rank = 1 + m.below(2); d < rank; ++d) {
      bool tiling = round == 0;
      sizes.push_back(m.positive());
      strides.push_back(tiling ? sizes[d] : m.positive());
      dilations.push_back(tiling ? 1 : 1 + m.below(2));
      low.push_back(tiling ? 0 : m.below(3));
      high.push_back(tiling ? 0 : m.below(3));
      int64_t span = dilations[d] * (sizes[d] - 1) + 1;
      below.push_back(std::max<int64_t>(1, span - low[d] - high[d]) + m.below(5));
      places.push_back((below[d] + low[d] + high[d] - span) / strides[d] + 1);
    }
    Shape image = lead, seen = lead;
    image.insert(image.end(), below.begin(), below.end());
    seen.insert(seen.end(), sizes.begin(), sizes.end());
    seen.insert(seen.end(), places.begin(), places.end());
    std::string geometry = " sizes " + list(sizes) + " strides " + list(strides) + " dilations " + list(dilations) +
                           " low " + list(low) + " high " + list(high) + " : ";
    m.simple("window", {type(image)}, " %a" + geometry + type(image) + " -> " + type(seen), type(seen));
    m.simple("unwindow", {type(seen)}, " %a shape " + list(below) + geometry + type(seen) + " -> " + type(image),
             type(image));
  }
}

void addIndexing(Maker &m) {
  for (int round = 0; round < 3; ++round) {
    Shape x = m.shape(1 + m.below(3)), places = m.shape(m.below(3));
    int64_t dim = m.below(int64_t(x.size()));
    x[dim] = m.positive();
    Shape result(x.begin(), x.begin() + dim);
    result.insert(result.end(), places.begin(), places.end());
    result.insert(result.end(), x.begin() + dim + 1, x.end());
    Range index{0, double(x[dim])};
    std::string i = type(places, "i64"), at = " dim " + std::to_string(dim) + " : (";
    m.simple("gather", {type(x), i}, " %a, %b" + at + type(x) + ", " + i + ") -> " + type(result), type(result),
             {{}, index});
    for (const char *mode : {" add", " set"})
      m.simple("scatter", {type(x), i, type(result)},
               mode + (" %a, %b, %c" + at) + type(x) + ", " + i + ", " + type(result) + ") -> " + type(x), type(x),
               {{}, index, {}});
  }
}

void addReductions(Maker &m) {
  auto without = [](const Shape &x, const Shape &dims) {
    Shape kept;
    for (int64_t d = 0; d < int64_t(x.size()); ++d)
      if (std::find(dims.begin(), dims.end(), d) == dims.end())
        kept.push_back(x[d]);
    return kept;
  };
  const Shape choices[] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, {}};
  for (const char *kind : {"sum", "prod", "max", "min", "any", "all"})
    for (const char *element : {"f64", "i64", "i1"}) {
      bool logical = std::string(kind) == "any" || std::string(kind) == "all";
      if (logical != (std::string(element) == "i1"))
        continue;
      Shape x = m.shape(3), dims = choices[m.below(8)];
      std::string r = type(without(x, dims), element);
      m.simple("reduce", {type(x, element)},
               std::string(" ") + kind + " %a dims " + list(dims) + " : " + type(x, element) + " -> " + r, r);
    }
  for (const char *kind : {"max", "min"}) {
    Shape x = m.shape(2);
    int64_t dim = m.below(2);
    x[dim] = m.positive();
    std::string r = type(without(x, {dim}), "i64");
    m.simple("arg_reduce", {type(x)}, std::string(" ") + kind + " %a dim " + std::to_string(dim) + " : " + type(x) +
                                          " -> " + r, r);
  }
  for (const char *kind : {"sum", "prod", "max"})
    for (const char *element : {"f64", "i64"}) {
      Shape x = m.shape(1 + m.below(3));
      std::string t = type(x, element);
      m.simple("cumulate", {t}, std::string(" ") + kind + " %a dim " + std::to_string(m.below(int64_t(x.size()))) +
                                    " : " + t + " -> " + t, t);
    }
  Shape offsets = {0};
  for (int64_t s = m.below(4); s >= 0; --s)
    offsets.push_back(offsets.back() + m.size());
  std::string whole = type({offsets.back()}), pieces = type({int64_t(offsets.size()) - 1});
  for (const char *kind : {"sum", "prod", "max", "min"})
    m.simple("segment_reduce", {whole},
             std::string(" ") + kind + " %a offsets " + list(offsets) + " : " + whole + " -> " + pieces, pieces);
  m.simple("segment_spread", {pieces}, " %a offsets " + list(offsets) + " : " + pieces + " -> " + whole, whole);
}

void addContractions(Maker &m) {
  const char *rows[][3] = {{"ik", "kj", "ij"}, {"ki", "jk", "ji"}, {"i", "i", ""},     {"i", "j", "ij"},
                           {"bik", "bkj", "bij"}, {"ij", "ij", "j"}, {"ij", "k", "jk"}, {"", "i", "i"},
                           {"ijk", "kl", "lji"}, {"i", "j", ""}};
  for (auto &row : rows) {
    std::map<char, int64_t> sizes;
    auto shapeOf = [&](const char *letters) {
      Shape shape;
      for (const char *letter = letters; *letter; ++letter) {
        if (!sizes.count(*letter))
          sizes[*letter] = m.size();
        shape.push_back(sizes[*letter]);
      }
      return shape;
    };
    std::string a = type(shapeOf(row[0])), b = type(shapeOf(row[1])), r = type(shapeOf(row[2]));
    m.simple("contract", {a, b},
             std::string(" %a, %b \"") + row[0] + "\", \"" + row[1] + "\" -> \"" + row[2] + "\" : (" + a + ", " + b +
                 ") -> " + r,
             r);
  }
}

/// `dense<…>` with numbers on the diagonal, zeros beside it.
std::string diagonal(int64_t rows, int64_t columns, int64_t first, int64_t rise) {
  std::string text = "dense<";
  for (int64_t i = 0; i < rows && columns; ++i) {
    text += i ? ", [" : "[[";
    for (int64_t j = 0; j < columns; ++j)
      text += (j ? ", " : "") + std::to_string(i == j ? first + rise * i : 0) + ".0";
    text += "]";
  }
  return text + (rows && columns ? "]>" : ">");
}

/// Small numbers with a diagonal far from zero and from itself: decompositions are smooth there.
void addMatrices(Maker &m) {
  struct Row {
    const char *op;
    bool tall, wide; ///< may have more rows, more columns
    int64_t first, rise;
    std::vector<const char *> results;
  };
  // n: the square of the lesser size, k: a vector of it; u and v: rows and columns by it; "": a number.
  const Row rows[] = {{"cholesky", false, false, 6, 0, {"n"}}, {"qr", true, false, 4, 1, {"u", "n"}},
                      {"eigh", false, false, 0, 4, {"k", "n"}}, {"svd", true, true, 4, 4, {"u", "k", "v"}},
                      {"log_det", false, false, 4, 1, {"", ""}}};
  for (const Row &row : rows)
    for (bool batched : {false, true}) {
      int64_t k = m.size(), tall = row.tall ? k + m.below(3) : k, wide = row.wide && tall == k ? k + m.below(3) : k;
      Shape batch = batched ? Shape{m.size()} : Shape{};
      auto with = [&](Shape dims) {
        dims.insert(dims.begin(), batch.begin(), batch.end());
        return type(dims);
      };
      std::string a = with({tall, wide}), c = type({tall, wide}), types, names, list;
      for (const char *result : row.results) {
        std::string kind = result;
        Shape dims = kind == "n" ? Shape{k, k} : kind == "k" ? Shape{k} : kind == "u" ? Shape{tall, k}
                     : kind == "v" ? Shape{wide, k} : Shape{};
        list += (names.empty() ? "%" : ", %") + std::string("r") + std::to_string(types.size());
        types += (names.empty() ? "" : ", ") + with(dims);
        names = list;
      }
      m.add(row.op, {a},
            "  %c = nd.constant " + diagonal(tall, wide, row.first, row.rise) + " : " + c + "\n  %d = nd.broadcast %c dims " +
                (batched ? "[1, 2]" : "[0, 1]") + " : " + c + " -> " + a + "\n  %x = nd.add %a, %d : " + a + "\n  " + list +
                " = nd." + row.op + " %x : (" + a + ") -> (" + types + ")\n",
            list, types, {{-0.5, 0.5}});
    }
  for (const char *op : {"solve", "triangular_solve", "triangular_solve upper"})
    for (bool batched : {false, true}) {
      int64_t n = m.size(), k = m.size(), count = m.size();
      std::string a = type(batched ? Shape{count, n, n} : Shape{n, n}), b = type(batched ? Shape{count, n, k} : Shape{n, k});
      std::string c = type({n, n}), name = std::string(op).substr(0, std::string(op).find(' '));
      m.add(name, {a, b},
            "  %c = nd.constant " + diagonal(n, n, 3, 0) + " : " + c + "\n  %d = nd.broadcast %c dims " +
                (batched ? "[1, 2]" : "[0, 1]") + " : " + c + " -> " + a + "\n  %x = nd.add %a, %d : " + a + "\n  %r = nd." +
                op + " %x, %b : (" + a + ", " + b + ") -> " + b + "\n",
            "%r", b, {{-0.5, 0.5}, {}});
    }
}

void addOrder(Maker &m) {
  for (const char *element : {"f64", "i64"}) {
    Shape x = m.shape(1 + m.below(3));
    m.simple("argsort", {type(x, element)},
             " %a dim " + std::to_string(m.below(int64_t(x.size()))) + " : (" + type(x, element) + ") -> " + type(x, "i64"),
             type(x, "i64"), {{-2, 3}});
  }
  Shape offsets = {0};
  for (int64_t s = m.below(4); s >= 0; --s)
    offsets.push_back(offsets.back() + m.size());
  std::string whole = type({offsets.back()});
  m.simple("argsort", {whole}, " %a dim 0 offsets " + list(offsets) + " : (" + whole + ") -> " +
                                   type({offsets.back()}, "i64"), type({offsets.back()}, "i64"));
  for (const char *inverse : {"", " inverse"}) {
    Shape x = m.shape(m.below(3));
    x.push_back(m.below(13));
    x.push_back(2);
    m.simple("fft", {type(x)}, std::string(inverse) + " %a : (" + type(x) + ") -> " + type(x), type(x));
  }
}

void addRegions(Maker &m) {
  for (const char *reverse : {"", " reverse"}) {
    int64_t trip = m.size(), n = m.positive();
    std::string c = type({n}), xs = type({trip, n}), ys = type({trip});
    // c' = tanh(c) * x + w, a counter beside it; y = sum(c * w).
    m.add("scan", {c, xs, c},
          "  %k = nd.constant dense<0> : tensor<i64>\n"
          "  %one = nd.constant dense<1> : tensor<i64>\n"
          "  %r:3 = nd.scan inits(%a, %k : " + c + ", tensor<i64>) xs(%b : " + xs + ") trip " + std::to_string(trip) +
              reverse + " {\n  ^bb0(%i: tensor<i64>, %s: " + c + ", %n: tensor<i64>, %x: " + c + "):\n"
              "    %t = nd.tanh %s : " + c + "\n    %u = nd.mul %t, %x : " + c + "\n    %v = nd.add %u, %c : " + c +
              "\n    %m = nd.add %n, %one : tensor<i64>\n"
              "    %y = nd.contract %s, %c \"i\", \"i\" -> \"\" : (" + c + ", " + c + ") -> tensor<f64>\n"
              "    nd.yield %v, %m, %y : " + c + ", tensor<i64>, tensor<f64>\n  } : " + c + ", tensor<i64>, " + ys + "\n",
          "%r#0, %r#1, %r#2", c + ", tensor<i64>, " + ys);
  }
  // Halves until below 1.
  m.add("while", {"tensor<f64>", "tensor<f64>"},
        "  %one = nd.constant dense<1.0> : tensor<f64>\n"
        "  %r:2 = nd.while inits(%a : tensor<f64>) limit 12 cond {\n  ^bb0(%s: tensor<f64>):\n"
        "    %go = nd.compare gt %s, %one : (tensor<f64>, tensor<f64>) -> tensor<i1>\n"
        "    nd.yield %go : tensor<i1>\n  } body {\n  ^bb0(%s: tensor<f64>):\n"
        "    %n = nd.mul %s, %b : tensor<f64>\n    nd.yield %n : tensor<f64>\n  } : tensor<f64>, tensor<i64>\n",
        "%r#0, %r#1", "tensor<f64>, tensor<i64>", {{1.2, 40}, {0.4, 0.6}});
  std::string t = type(m.anyShape());
  m.add("cond", {"tensor<i1>", t, t},
        "  %r = nd.cond %a then {\n    %p = nd.mul %b, %c : " + t + "\n    nd.yield %p : " + t + "\n  } else {\n"
        "    %q = nd.sin %c : " + t + "\n    nd.yield %q : " + t + "\n  } : tensor<i1> -> " + t + "\n",
        "%r", t);
}
} // namespace

std::vector<Sample> makeSamples(uint64_t seed) {
  Maker maker(seed);
  addUnary(maker);
  addBinary(maker);
  addSources(maker);
  addShape(maker);
  addWindows(maker);
  addIndexing(maker);
  addReductions(maker);
  addContractions(maker);
  addOrder(maker);
  addMatrices(maker);
  addRegions(maker);
  return std::move(maker.samples);
}

std::string inSinglePrecision(const std::string &text) {
  std::string result = text;
  for (size_t at = 0; (at = result.find("f64", at)) != std::string::npos;)
    result.replace(at, 3, "f32");
  return result;
}

std::vector<nd::NdArray> makeArguments(func::FuncOp function, const std::vector<Range> &ranges, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<nd::NdArray> arguments;
  for (auto [i, given] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(given);
    nd::Element element = nd::elementOf(tensor);
    Range range = ranges[i];
    if (nd::isFloat(element)) {
      std::vector<double> values(tensor.getNumElements());
      for (double &value : values)
        value = std::uniform_real_distribution<double>(range.lo, range.hi)(random);
      arguments.emplace_back(tensor.getShape(), element, std::move(values));
      continue;
    }
    int64_t lo = element == nd::Element::i1 ? 0 : int64_t(range.lo), hi = element == nd::Element::i1 ? 2 : int64_t(range.hi);
    std::vector<int64_t> values(tensor.getNumElements());
    for (int64_t &value : values)
      value = std::uniform_int_distribution<int64_t>(lo, hi - 1)(random);
    arguments.emplace_back(tensor.getShape(), element, std::move(values));
  }
  return arguments;
}

} // namespace dyn::conformance
