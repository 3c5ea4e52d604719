//===- Types.cpp - declared types against values --------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Stacks.h"

using namespace mlir;

namespace dyn::elab {

static void addLeaves(const Value &value, std::vector<Value> &leaves) {
  if (auto *record = value.as<Record>())
    for (auto &[name, field] : record->fields)
      addLeaves(field, leaves);
  else
    leaves.push_back(value);
}

std::vector<Value> leafValues(const std::vector<Value> &values) {
  std::vector<Value> leaves;
  for (const Value &value : values)
    addLeaves(value, leaves);
  return leaves;
}

static bool align(const Value &a, Value &b) {
  auto *x = a.as<Record>();
  auto *y = b.as<Record>();
  if (!x || !y)
    return (!x && !y) || a.isInvalid() || b.isInvalid();
  if (x->fields.size() != y->fields.size())
    return false;
  Record ordered;
  for (auto &[name, field] : x->fields) {
    auto it = llvm::find_if(y->fields, [&, &wanted = name](auto &other) { return other.first == wanted; });
    if (it == y->fields.end() || !align(field, it->second))
      return false;
    ordered.fields.push_back(*it);
  }
  b.payload = std::move(ordered);
  return true;
}

bool alignAll(const std::vector<Value> &a, std::vector<Value> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!align(a[i], b[i]))
      return false;
  return true;
}

static Value rebuild(const Value &model, std::vector<Value>::const_iterator &next) {
  auto *record = model.as<Record>();
  if (!record)
    return *next++;
  Record made;
  for (auto &[name, field] : record->fields)
    made.fields.emplace_back(name, rebuild(field, next));
  return Value(std::move(made), model.origin);
}

std::vector<Value> rebuildAll(const std::vector<Value> &models, const std::vector<Value> &leaves) {
  std::vector<Value> values;
  auto next = leaves.begin();
  for (const Value &model : models)
    values.push_back(rebuild(model, next));
  return values;
}

/// An array's element type by its word, or nothing.
static std::optional<Elem> elementNamed(llvm::StringRef name) {
  if (name == "real" || name == "f32" || name == "f64")
    return Elem::Real;
  if (name == "int" || name == "i32" || name == "i64" || name == "class" || name == "u8")
    return Elem::Int;
  if (name == "bool")
    return Elem::Bool;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> Elaborator::shapeOf(const std::vector<ast::ExprPtr> &dims, ScopePtr scope,
                                                        const Tensor *against, const std::string &what, Span span) {
  SmallVector<int64_t> shape;
  Frame frame{scope};
  for (size_t i = 0; i < dims.size(); ++i) {
    auto *name = ast::dynCast<ast::NameExpr>(dims[i].get());
    if (name && !scope->find(name->name)) {
      // A name in a shape binds once and is checked after.
      if (!against) {
        diags.report(Diag::unbound_shape_name, dims[i]->span, name->name)
            .help("give the size as a hyperparameter: `" + name->name + ": int`");
        return std::nullopt;
      }
      int64_t size = against->type().getDimSize(i);
      scope->define(name->name, integer(size, dims[i]->span), NameKind::ShapeName, span);
      shape.push_back(size);
      continue;
    }
    auto size = knownInt(evaluate(*dims[i], frame), dims[i]->span, "a size");
    if (!size)
      return std::nullopt;
    if (*size < 0) {
      diags.report(Diag::negative_size, dims[i]->span, *size);
      return std::nullopt;
    }
    if (against && against->type().getDimSize(i) != *size) {
      auto report = diags.report(Diag::declared_size, span, what, print(*dims[i]), *size, against->type().getDimSize(i));
      report.note(dims[i]->span, "declared here");
      Binding *binding = name ? scope->find(name->name) : nullptr;
      if (binding && binding->span.isValid())
        report.note(binding->span, "`" + name->name + "` is " + std::to_string(*size) + " from here");
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  return against || fitsMemory(shape, diags, span) ? std::optional(shape) : std::nullopt;
}

bool Elaborator::declaredShape(const ast::Type &type, ScopePtr scope, SmallVector<int64_t> &shape, Elem &elem,
                               int64_t *classes) {
  if (auto *array = ast::dynCast<ast::ArrayType>(&type)) {
    if (array->element) {
      auto named = elementNamed(array->element->name.text);
      if (!named) {
        diags.report(Diag::not_an_element_type, array->element->span, array->element->name.text);
        return false;
      }
      elem = *named;
      if (!classArgument(*array->element, scope, classes))
        return false;
    }
    auto dims = shapeOf(array->shape, scope, nullptr, "", type.span);
    if (!dims)
      return false;
    shape = *dims;
    return true;
  }
  if (auto *named = ast::dynCast<ast::NamedType>(&type))
    if (auto known = elementNamed(named->name.text)) {
      elem = *known;
      return classArgument(*named, scope, classes);
    }
  diags.report(Diag::needs_array_type, type.span, print(type));
  return false;
}

bool Elaborator::classArgument(const ast::NamedType &type, ScopePtr scope, int64_t *classes) {
  if (type.name.text != "class")
    return true;
  if (type.args.size() != 1) {
    diags.report(Diag::class_without_count, type.span);
    return false;
  }
  auto *name = ast::dynCast<ast::NameExpr>(type.args.front().get());
  if (name && !scope->find(name->name)) {
    diags.report(Diag::unbound_shape_name, type.span, name->name);
    return false;
  }
  Frame frame{scope};
  auto count = knownInt(evaluate(*type.args.front(), frame), type.args.front()->span, "the number of classes");
  if (count && *count < 1) {
    diags.report(Diag::cannot_be, type.args.front()->span, "the number of classes", *count);
    return false;
  }
  if (count && classes)
    *classes = *count;
  return count.has_value();
}

std::optional<Value> Elaborator::conform(const Value &value, const ast::Type &type, ScopePtr scope,
                                         const std::string &what, Span span) {
  auto refuse = [&]() -> std::optional<Value> {
    if (!value.isInvalid())
      diags.report(Diag::declared_type, span, what, print(type), describe(value)).note(type.span, "declared here");
    return std::nullopt;
  };
  if (auto *record = ast::dynCast<ast::RecordType>(&type)) {
    auto *have = value.as<Record>();
    if (!have || have->fields.size() != record->fields.size())
      return refuse();
    Record result;
    for (auto &field : record->fields) {
      auto it = llvm::find_if(have->fields, [&](auto &f) { return f.first == field.name.text; });
      if (it == have->fields.end())
        return refuse();
      auto inner = conform(it->second, *field.type, scope, what + "." + field.name.text, span);
      if (!inner)
        return std::nullopt;
      result.fields.emplace_back(field.name.text, *inner);
    }
    return Value(result, value.origin);
  }
  if (ast::isa<ast::FnType>(&type)) {
    if (value.as<Function>() || value.as<Closure>() || value.as<Builtin>() || value.as<Held>() ||
        value.as<std::shared_ptr<Instance>>() || value.as<std::shared_ptr<const Derivative>>())
      return value;
    return refuse();
  }
  const ast::NamedType *named = ast::dynCast<ast::NamedType>(&type);
  auto *array = ast::dynCast<ast::ArrayType>(&type);
  if (array)
    named = array->element.get();
  llvm::StringRef word = named ? llvm::StringRef(named->name.text) : "real";
  auto elem = elementNamed(word);
  if (!elem) {
    if (word == "tree") {
      auto *kept = value.as<std::shared_ptr<Series>>();
      if (kept && !(*kept)->tree.empty() && !(*kept)->isNamed()) {
        auto whole = tensor(value, span);
        return whole ? std::optional(Value(*whole, value.origin)) : std::nullopt;
      }
      auto *t = value.as<Tensor>();
      bool isTree = t && isa_and_present<ir::TreeAttr>(ir::rangeOf(t->type().getEncoding())) && !isStackOfTrees(t->type());
      return isTree ? std::optional<Value>(value) : refuse();
    }
    if (word == "model")
      return value.as<std::shared_ptr<Instance>>() || value.as<ModelName>() ? std::optional<Value>(value) : refuse();
    if (word == "data")
      return value.as<Data>() ? std::optional<Value>(value) : refuse();
    if (word == "string")
      return value.as<Text>() ? std::optional<Value>(value) : refuse();
    if (auto *rule = value.as<Rule>())
      return word == ast::spelling(rule->decl->rule) ? std::optional<Value>(value) : refuse();
    if (word == "run")
      return value.as<std::shared_ptr<RunResult>>() ? std::optional<Value>(value) : refuse();
    if (llvm::is_contained({"optimizer", "clip", "schedule", "probe", "aggregator", "compressor"}, word))
      return refuse();
    diags.report(Diag::unknown_type, type.span, word.str());
    return std::nullopt;
  }
  if (isSketch(value))
    return Value();
  // A rule that schedules a number stands where a number may.
  if (auto *rule = value.as<Rule>(); rule && !array && rule->decl->rule == ast::RuleKind::Schedule && *elem == Elem::Real)
    return value;
  if (auto *c = value.as<Const>(); c && !array) {
    if (c->elem > *elem && !(c->elem == Elem::Int && *elem == Elem::Real))
      return refuse();
    if (*elem == Elem::Bool && c->elem != Elem::Bool)
      return refuse();
    Const typed = *c;
    typed.elem = *elem;
    if (word == "class") {
      int64_t classes = 0;
      if (!classArgument(*named, scope, &classes))
        return std::nullopt;
      if (typed.number < 0 || typed.number >= double(classes)) {
        diags.report(Diag::class_out_of_range, span, what, static_cast<int64_t>(typed.number), classes);
        return std::nullopt;
      }
    }
    return Value(typed, value.origin);
  }
  auto *asTensor = value.as<Tensor>();
  std::optional<Tensor> made;
  if (!asTensor && (value.as<Const>() || value.as<std::shared_ptr<Series>>())) {
    made = tensor(value, span);
    asTensor = made ? &*made : nullptr;
  }
  if (!asTensor)
    return refuse();
  Tensor t = *asTensor;
  t.fresh = 0;
  if (isa_and_present<ir::LeavesAttr, ir::TreeAttr>(ir::rangeOf(t.type().getEncoding())))
    return refuse();
  Elem have = elemOf(t.type().getElementType());
  if (have > *elem || (*elem == Elem::Int && have == Elem::Bool))
    return refuse();
  size_t rank = array ? array->shape.size() : 0;
  if (static_cast<size_t>(t.type().getRank()) != rank)
    return refuse();
  if (word == "class") {
    auto *name = named->args.size() == 1 ? ast::dynCast<ast::NameExpr>(named->args.front().get()) : nullptr;
    if (name && !scope->find(name->name)) {
      if (!t.classes)
        return refuse();
      scope->define(name->name, integer(t.classes, span), NameKind::ShapeName, span);
    } else {
      int64_t classes = 0;
      if (!classArgument(*named, scope, &classes))
        return std::nullopt;
      if (t.classes && t.classes != classes) {
        diags.report(Diag::declared_classes, span, what, classes, t.classes).note(type.span, "declared here");
        return std::nullopt;
      }
      t.classes = classes;
    }
  }
  if (array && !shapeOf(array->shape, scope, &t, what, span))
    return std::nullopt;
  t = cast(t, *elem, t.number && rank == 0, span);
  return Value(t, value.origin);
}

} // namespace dyn::elab
