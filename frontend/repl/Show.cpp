#include "frontend/repl/Show.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dyn::repl {

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

namespace {

/// Arrays with more elements show the ends of each dimension only.
constexpr size_t mostElements = 1000;
/// Elements at each end of a dimension that is shortened.
constexpr int64_t endSize = 3;
constexpr size_t lineWidth = 100;

std::string number(double value, elab::Elem elem) {
  if (elem == elab::Elem::Bool)
    return value != 0 ? "true" : "false";
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, elem == elab::Elem::Int ? "%.0f" : "%.6g", value);
  return text;
}

/// Writes an array as nested brackets, all numbers in one width.
class ArrayPrinter {
public:
  ArrayPrinter(const Array &array, size_t indent)
      : array(array), indent(indent), isLong(array.values.size() > mostElements) {
    forShown(0, 0, [&](size_t at) { width = std::max(width, textAt(at).size()); });
  }

  std::string text() {
    if (array.shape.empty())
      return array.values.empty() ? "" : textAt(0);
    return level(0, 0);
  }

private:
  std::string textAt(size_t at) const {
    return !array.missing.empty() && array.missing[at] ? "missing" : number(array.values[at], array.elem);
  }
  int64_t stride(size_t dim) const {
    int64_t size = 1;
    for (size_t d = dim + 1; d < array.shape.size(); ++d)
      size *= array.shape[d];
    return size;
  }
  bool isCut(size_t dim) const { return isLong && array.shape[dim] > 2 * endSize; }
  bool isShown(size_t dim, int64_t i) const { return !isCut(dim) || i < endSize || i >= array.shape[dim] - endSize; }

  template <class Visit>
  void forShown(size_t dim, int64_t offset, Visit visit) {
    if (dim == array.shape.size()) {
      if (static_cast<size_t>(offset) < array.values.size())
        visit(static_cast<size_t>(offset));
      return;
    }
    for (int64_t i = 0; i < array.shape[dim];
         i += isCut(dim) && i == endSize - 1 ? array.shape[dim] - 2 * endSize + 1 : 1)
      forShown(dim + 1, offset + i * stride(dim), visit);
  }

  std::string level(size_t dim, int64_t offset) {
    bool isRow = dim + 1 == array.shape.size();
    std::string text = "[", newLine = "\n" + std::string(indent + dim + 1, ' ');
    size_t column = indent + dim + 1;
    for (int64_t i = 0; i < array.shape[dim]; ++i) {
      if (!isShown(dim, i)) {
        text += isRow ? ", …" : "," + newLine + "…";
        i = array.shape[dim] - endSize - 1;
        column += 3;
        continue;
      }
      std::string item = isRow ? textAt(static_cast<size_t>(offset + i))
                               : level(dim + 1, offset + i * stride(dim));
      if (isRow && array.shape.size() > 1)
        item.insert(0, width - item.size(), ' ');
      bool wraps = isRow && i > 0 && column + item.size() + 2 > lineWidth;
      text += i == 0 ? "" : isRow && !wraps ? ", " : "," + newLine;
      column = wraps ? indent + dim + 1 + item.size() : column + item.size() + 2;
      text += item;
    }
    return text + "]";
  }

  const Array &array;
  size_t indent;
  bool isLong;
  size_t width = 0;
};

const char *word(elab::Elem elem) {
  return elem == elab::Elem::Bool ? "bool" : elem == elab::Elem::Int ? "int" : "real";
}

} // namespace

std::string show(const Array &array, size_t indent) { return ArrayPrinter(array, indent).text(); }

std::string typeOf(const Array &array) {
  if (array.shape.empty())
    return word(array.elem);
  return (array.elem == elab::Elem::Real ? "" : word(array.elem)) + elab::describeShape(array.shape);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static Span bodyOf(const ast::Body &body) { return body.value ? body.value->span : body.block->span; }

/// Where the part of a declaration that says what it does begins; invalid: it is shown whole.
static Span bodyOf(const ast::Decl &decl) {
  if (auto *fn = ast::dynCast<ast::FnDecl>(&decl))
    return bodyOf(fn->body);
  if (auto *model = ast::dynCast<ast::ModelDecl>(&decl))
    return bodyOf(model->body);
  if (auto *rule = ast::dynCast<ast::RuleDecl>(&decl))
    return bodyOf(rule->body);
  if (auto *train = ast::dynCast<ast::TrainDecl>(&decl))
    return train->body->span;
  if (auto *experiment = ast::dynCast<ast::ExperimentDecl>(&decl))
    return experiment->body->span;
  return {};
}

std::string signature(const ast::Decl &decl, const SourceManager &sources) {
  const SourceFile *file = sources.file(decl.span);
  if (!file)
    return "";
  Span body = bodyOf(decl);
  std::string text(file->text({decl.span.file, decl.span.begin, body.isValid() ? body.begin : decl.span.end}));
  while (!text.empty() &&
         (text.back() == '=' || text.back() == '{' || std::isspace(static_cast<unsigned char>(text.back()))))
    text.pop_back();
  if (auto *data = ast::dynCast<ast::DataDecl>(&decl); data && data->hasItems)
    text = text.substr(0, text.find('{') == std::string::npos ? text.size() : text.find('{') - 1) + " { … }";
  return text;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Metrics show their last moments too: what happened last is what one looks for.
static std::string showMetric(const elab::Series &series, size_t indent) {
  Array array;
  array.shape.assign(series.shape.begin(), series.shape.end());
  for (size_t i = series.axes.size(); i-- > 0;)
    array.shape.insert(array.shape.begin(), series.axes[i].size());
  array.values = series.values;
  array.elem = series.elem;
  // What a run that diverged measured stands as it is.
  for (size_t i = 0; !series.missing.empty() && i < array.values.size(); ++i)
    array.missing.push_back(series.isMissing(static_cast<int64_t>(i) / series.width()) && std::isfinite(array.values[i]));
  std::string text = show(array, indent) + " : " + typeOf(array);
  for (const elab::Axis &axis : series.axes)
    if (axis.size() > 0)
      text += ", " + axis.name + " " + axis.label(0) + " to " + axis.label(axis.size() - 1);
  return text;
}

static std::string showSweep(const elab::RunResult &sweep) {
  auto diverged = std::count_if(sweep.members.begin(), sweep.members.end(), [](auto &member) { return member->diverged; });
  std::string text = "sweep " + sweep.name + ", " + std::to_string(sweep.members.size()) + " members over ";
  for (const elab::Axis &axis : sweep.axes)
    text += (&axis == &sweep.axes.front() ? "" : ", ") + axis.name;
  return text + (diverged ? ", " + std::to_string(diverged) + " diverged" : "");
}

static std::string showRun(const elab::RunResult &run) {
  if (run.isSweep())
    return showSweep(run);
  std::string text = "run " + run.name;
  for (auto &[name, series] : run.series)
    if (series && series->isNamed() && series->shape.empty() && !series->values.empty()) {
      Array last{{}, {series->values.back()}, series->elem};
      text += ", " + name + " " + show(last, 0);
    }
  return text + (run.diverged ? ", diverged" : "");
}

std::string show(const elab::Value &value, const SourceManager &sources, size_t indent) {
  using namespace elab;
  if (auto *number = value.as<Const>()) {
    Array array{{}, {number->number}, number->elem};
    return show(array, 0) + " : " + typeOf(array);
  }
  if (auto *series = value.as<std::shared_ptr<Series>>())
    return showMetric(**series, indent);
  if (auto *run = value.as<std::shared_ptr<RunResult>>())
    return showRun(**run);
  if (auto *text = value.as<Text>())
    return "\"" + text->text + "\" : string";
  if (value.as<None>())
    return "none";
  if (auto *range = value.as<Range>())
    return std::to_string(range->low) + ".." + std::to_string(range->high) + " : range of " +
           std::to_string(range->high - range->low);
  if (auto *record = value.as<Record>()) {
    std::string text = "(";
    for (auto &[name, field] : record->fields) {
      std::string head = name + " = ";
      text += (text.size() > 1 ? ",\n" + std::string(indent + 1, ' ') : "") + head +
              show(field, sources, indent + 1 + head.size());
    }
    return text + ")";
  }
  if (auto *tuple = value.as<Tuple>()) {
    std::string text = "(";
    for (auto &item : tuple->items)
      text += (text.size() > 1 ? ",\n" + std::string(indent + 1, ' ') : "") + show(item, sources, indent + 1);
    return text + ")";
  }
  if (auto *fn = value.as<Function>())
    return signature(*fn->decl, sources);
  if (auto *model = value.as<ModelName>())
    return signature(*model->decl, sources);
  if (auto *rule = value.as<Rule>())
    return signature(*rule->decl, sources) + (rule->hyper ? ", with its hyperparameters" : "");
  if (auto *data = value.as<Data>())
    return signature(*data->decl, sources);
  if (auto *train = value.as<TrainName>())
    return signature(*train->decl, sources);
  if (auto *builtin = value.as<Builtin>())
    return "`" + builtin->name + "`, a function of the language";
  if (auto *closure = value.as<Closure>())
    return print(*closure->expr) + " : a function";
  if (auto *instance = value.as<std::shared_ptr<Instance>>())
    return "an instance of " + signature(*(*instance)->decl, sources);
  if (auto *dist = value.as<Distribution>()) {
    std::string text = dist->kind + "(";
    for (auto &parameter : dist->parameters)
      text += (text.back() == '(' ? "" : ", ") + describeKnown(parameter);
    return text + ") : a distribution; `draw(…, shape=[3])` draws from it";
  }
  return describe(value);
}

} // namespace dyn::repl
