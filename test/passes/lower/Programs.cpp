//===- Programs.cpp - random programs that fuse ---------------------------===//
#include "Programs.h"

#include <random>

namespace dyn::conformance {
namespace {

using Shape = std::vector<int64_t>;

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f64>";
}

class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {
    const int64_t rowSizes[] = {1, 2, 5, 17, 40, 200}, columnSizes[] = {1, 3, 7, 8, 10, 33, 64, 100, 257};
    rows = rowSizes[below(6)];
    columns = columnSizes[below(9)];
    // Some are large enough for threads.
    if (seed % 10 == 0)
      rows = 3001;
  }

  Sample write() {
    Sample sample;
    sample.op = "program";
    std::vector<std::string> arguments;
    for (const Shape &shape :
         {Shape{rows, columns}, Shape{rows, columns}, Shape{columns}, Shape{rows}, Shape{}, Shape{columns, columns}}) {
      std::string name = "%a" + std::to_string(arguments.size());
      arguments.push_back(name + ": " + typeOf(shape));
      values.push_back({name, shape});
      sample.ranges.push_back({0.2, 1.5});
    }
    for (int i = 0; i < 24; ++i)
      step();
    // The last values, and some in the middle.
    std::string results, types;
    for (size_t i = values.size(); i-- > 0;) {
      if (i + 5 < values.size() && below(5))
        continue;
      results += (results.empty() ? "" : ", ") + values[i].name;
      types += (types.empty() ? "" : ", ") + typeOf(values[i].shape);
    }
    sample.text = "func.func @f(";
    for (size_t i = 0; i < arguments.size(); ++i)
      sample.text += (i ? ", " : "") + arguments[i];
    sample.text += ") -> (" + types + ") {\n" + body + "  return " + results + " : " + types + "\n}\n";
    return sample;
  }

private:
  struct Named {
    std::string name;
    Shape shape;
  };

  int64_t below(int64_t bound) { return std::uniform_int_distribution<int64_t>(0, bound - 1)(random); }
  const Named &pick() {
    return values[below(2) ? below(int64_t(values.size()))
                           : int64_t(values.size()) - 1 - below(std::min<int64_t>(5, values.size()))];
  }
  const Named *pickOf(const Shape &shape) {
    for (int tries = 0; tries < 20; ++tries) {
      const Named &candidate = values[below(int64_t(values.size()))];
      if (candidate.shape == shape)
        return &candidate;
    }
    return nullptr;
  }
  void add(const std::string &text, const Shape &shape) {
    std::string name = "%v" + std::to_string(made++);
    body += "  " + name + " = " + text + "\n";
    values.push_back({name, shape});
  }

  void step() {
    Named x = pick();
    std::string type = typeOf(x.shape);
    switch (below(11)) {
    case 0:
    case 1: {
      // Values stay near 1, so that rounding does not grow.
      const char *ops[] = {"tanh", "sigmoid", "erf", "abs", "sin", "neg"};
      return add(std::string("nd.") + ops[below(6)] + " " + x.name + " : " + type, x.shape);
    }
    case 2:
    case 3:
    case 4: {
      const Named *y = pickOf(x.shape);
      if (!y)
        return;
      const char *ops[] = {"add", "sub", "mul", "max", "min"};
      add(std::string("nd.") + ops[below(5)] + " " + x.name + ", " + y->name + " : " + type, x.shape);
      if (below(2)) {
        Named z = values.back();
        values.pop_back();
        add("nd.tanh " + z.name + " : " + type, x.shape);
      }
      return;
    }
    case 5: {
      if (x.shape.empty())
        return;
      const char *kinds[] = {"sum", "max", "min"};
      int64_t dim = below(int64_t(x.shape.size()));
      Shape shape = x.shape;
      shape.erase(shape.begin() + dim);
      std::string dims = "[" + std::to_string(dim) + "]";
      if (x.shape.size() == 2 && below(3) == 0) {
        dims = "[0, 1]";
        shape.clear();
      }
      add(std::string("nd.reduce ") + kinds[below(3)] + " " + x.name + " dims " + dims + " : " + type + " -> " +
              typeOf(shape),
          shape);
      // Sums are brought back to the size of their terms.
      Named sum = values.back();
      values.pop_back();
      return add("nd.tanh " + sum.name + " : " + typeOf(shape), shape);
    }
    case 6:
    case 7: {
      Shape shape{rows, columns};
      if (x.shape != Shape{rows} && x.shape != Shape{columns} && !x.shape.empty())
        return;
      std::string dims = x.shape.empty()                                           ? "[]"
                         : x.shape == Shape{rows} && (rows != columns || below(2)) ? "[0]"
                                                                                   : "[1]";
      return add("nd.broadcast " + x.name + " dims " + dims + " : " + type + " -> " + typeOf(shape), shape);
    }
    case 8:
    case 9:
      return below(2) ? product() : join();
    default: {
      if (x.shape.size() != 2)
        return;
      if (below(2)) {
        // There and back, so that shapes stay few.
        Shape turned{x.shape[1], x.shape[0]};
        add("nd.transpose " + x.name + " perm [1, 0] : " + type + " -> " + typeOf(turned), turned);
        Named t = values.back();
        add("nd.sigmoid " + t.name + " : " + typeOf(turned), turned);
        Named s = values.back();
        return add("nd.transpose " + s.name + " perm [1, 0] : " + typeOf(turned) + " -> " + type, x.shape);
      }
      Shape flat{x.shape[0] * x.shape[1]};
      add("nd.reshape " + x.name + " : " + type + " -> " + typeOf(flat), flat);
      Named f = values.back();
      return add("nd.reshape " + f.name + " : " + typeOf(flat) + " -> " + type, x.shape);
    }
    }
  }

  /// A matrix product, brought back to the size of its terms; sometimes with a bias.
  void product() {
    const Named *x = pickOf({rows, columns}), *w = pickOf({columns, columns}), *other = pickOf({rows, columns});
    if (!x || !w || !other)
      return;
    std::string matrix = typeOf({rows, columns}), square = typeOf({columns, columns});
    int64_t kind = below(3);
    Shape shape = kind == 2 ? Shape{columns, columns} : Shape{rows, columns};
    const char *letters[] = {"\"ik\", \"kj\" -> \"ij\"", "\"ik\", \"jk\" -> \"ij\"", "\"ki\", \"kj\" -> \"ij\""};
    add("nd.contract " + x->name + ", " + (kind == 2 ? other->name : w->name) + " " + letters[kind] + " : (" + matrix +
            ", " + (kind == 2 ? matrix : square) + ") -> " + typeOf(shape),
        shape);
    Named y = values.back();
    values.pop_back();
    if (const Named *bias = pickOf({columns}); bias && below(2)) {
      std::string b = bias->name;
      add("nd.broadcast " + b + " dims [1] : " + typeOf({columns}) + " -> " + typeOf(shape), shape);
      Named spread = values.back();
      values.pop_back();
      add("nd.add " + y.name + ", " + spread.name + " : " + typeOf(shape), shape);
      y = values.back();
      values.pop_back();
    }
    add("nd.tanh " + y.name + " : " + typeOf(shape), shape);
  }

  /// Two columns one after the other, and a piece of that.
  void join() {
    const Named *x = pickOf({columns}), *y = pickOf({columns});
    if (!x || !y)
      return;
    std::string column = typeOf({columns}), both = typeOf({2 * columns});
    add("nd.concat " + x->name + ", " + y->name + " dim 0 : (" + column + ", " + column + ") -> " + both,
        {2 * columns});
    std::string name = values.back().name;
    if (below(2))
      values.pop_back();
    int64_t offset = below(columns + 1), stride = 1;
    add("nd.slice " + name + " offsets [" + std::to_string(offset) + "] sizes [" + std::to_string(columns) +
            "] strides [" + std::to_string(stride) + "] : " + both + " -> " + column,
        {columns});
  }

  std::mt19937_64 random;
  int64_t rows, columns;
  int made = 0;
  std::vector<Named> values;
  std::string body;
};

} // namespace

Sample makeProgram(uint64_t seed) { return Writer(seed).write(); }

} // namespace dyn::conformance
