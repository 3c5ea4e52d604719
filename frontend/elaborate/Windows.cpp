//===- Windows.cpp - `windows(x, size=, stride=, padding=, dilation=)` ----===//
#include "frontend/elaborate/Args.h"
#include "frontend/elaborate/Elaborator.h"

#include "dialects/Nd/NdWindow.h"

using namespace mlir;

namespace dyn::elab {
namespace {

/// An argument of `windows`: its name, what stands for it where it is missing, and the least that it can be.
struct WindowArgument {
  const char *name;
  int64_t missing, least;
};
constexpr WindowArgument windowArguments[] = {{"size", 0, 1}, {"stride", 1, 1}, {"padding", 0, 0}, {"dilation", 1, 1}};

std::string roleOf(const WindowArgument &row) { return "the " + std::string(row.name) + " of `windows`"; }

} // namespace

/// The numbers of one argument: a list, or one number for all dimensions. Empty after a report.
SmallVector<int64_t> Elaborator::windowNumbers(const Args &args, int which, size_t rank, Frame &frame) {
  const WindowArgument &row = windowArguments[which];
  const ast::Expr *expr = args.get(row.name);
  if (!expr && which == 0 && args.positional.size() > 1)
    expr = args.positional[1];
  if (!expr && which == 0)
    diags.report(Diag::missing_argument, args.span, "windows", row.name);
  if (!expr)
    return SmallVector<int64_t>(rank, row.missing);
  SmallVector<const ast::Expr *> entries{expr};
  auto *list = ast::dynCast<ast::ArrayExpr>(expr);
  if (list) {
    entries.clear();
    for (auto &entry : list->elements)
      entries.push_back(entry.get());
  }
  if (entries.empty())
    diags.report(Diag::empty_array, expr->span);
  SmallVector<int64_t> numbers;
  for (const ast::Expr *entry : entries) {
    auto number = knownInt(evaluate(*entry, frame), entry->span, roleOf(row).c_str());
    if (!number)
      return {};
    if (*number < row.least) {
      diags.report(Diag::cannot_be, entry->span, roleOf(row), *number);
      return {};
    }
    numbers.push_back(*number);
  }
  if (which == 0)
    return numbers;
  if (list && numbers.size() != rank) {
    diags.report(Diag::cannot_be, expr->span, roleOf(row), describeShape(numbers))
        .help("one number, or one for each of the " + std::to_string(rank) + " entries of `size`");
    return {};
  }
  return list ? numbers : SmallVector<int64_t>(rank, numbers.front());
}

Value Elaborator::windows(const Value &x, const Args &args, Frame &frame) {
  Span span = args.span;
  auto t = tensor(x, x.origin, "the first argument of `windows`");
  SmallVector<int64_t> all[4];
  for (int which = 0; t && which < 4; ++which) {
    all[which] = windowNumbers(args, which, all[0].size(), frame);
    if (all[which].empty())
      return {};
  }
  if (!t)
    return {};
  if (isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(t->type().getEncoding()))) {
    diags.report(Diag::needs_array, span, "windows", describe(x)).help("a rule that windows an array says so: `on [m, n]`");
    return {};
  }
  if (t->type().getElementType().isInteger(1))
    *t = cast(*t, Elem::Int, t->number, span);
  nd::WindowSpec spec{all[0], all[1], all[3], all[2], all[2]};
  ArrayRef<int64_t> shape = t->type().getShape();
  int64_t lead = int64_t(shape.size()) - spec.rank();
  SmallVector<int64_t> result(shape.take_front(std::max<int64_t>(lead, 0)));
  llvm::append_range(result, spec.sizes);
  bool fits = lead >= 0;
  for (int64_t d = 0; fits && d < spec.rank(); ++d) {
    result.push_back(spec.places(d, shape[lead + d]));
    fits = result.back() > 0;
  }
  if (!fits) {
    auto report = diags.report(Diag::window_fits, span, describeShape(spec.sizes), describeShape(shape),
                               describeShape(spec.low), describeShape(spec.dilations));
    report.note(x.origin, "this is " + describeShape(shape));
    report.help("`size` has an entry for each of the last dimensions that the window moves over; a window spans "
                "dilation*(size - 1) + 1 elements");
    return {};
  }
  if (!fitsMemory(result, diags, span))
    return {};
  return Value(Tensor{create<nd::WindowOp>(span, t->value, spec.sizes, spec.strides, spec.dilations, spec.low, spec.high),
                      t->number, 0},
               span);
}

} // namespace dyn::elab
