#include "Comparison.h"

#include "frontend/Library.h"
#include "frontend/driver/Execution.h"

#include <cmath>
#include <cstdio>

using namespace dyn;
using namespace dyn::fuzz;

namespace {

constexpr int64_t steps = 3;              ///< later ones magnify the last digits
constexpr int64_t mostBytes = 200'000;    ///< of all arenas
constexpr int64_t mostRows = 2'000;       ///< of a data set

bool isSmall(const plan::Plan &plan) {
  int64_t bytes = 0;
  for (const plan::Arena &arena : plan.arenas)
    bytes += arena.bytes;
  for (const plan::Set &set : plan.sets)
    if (set.rows > mostRows)
      return false;
  return bytes <= mostBytes;
}

/// The arrays of a session's parameters and states.
std::vector<double> valuesOf(const Session &session) {
  std::vector<double> values;
  for (const plan::Leaf &leaf : session.plan().params) {
    int64_t count = 1;
    for (int64_t size : leaf.shape)
      count *= size;
    const void *data = session.data(leaf);
    for (int64_t i = 0; i < count; ++i)
      values.push_back(leaf.element == plan::Element::f64 ? static_cast<const double *>(data)[i]
                                                          : double(static_cast<const float *>(data)[i]));
  }
  return values;
}

/// Where two runs part; f32 sums have another order in compiled code, and three steps magnify that.
std::string difference(const std::vector<double> &compiled, const std::vector<double> &evaluated, bool isSingle) {
  double scale = 0, tolerance = isSingle ? 2e-3 : 1e-7;
  for (double value : evaluated)
    scale = std::max(scale, std::isfinite(value) ? std::fabs(value) : 0);
  for (size_t i = 0; i < compiled.size(); ++i) {
    double x = compiled[i], y = evaluated[i];
    bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                std::fabs(x - y) <= tolerance * std::max({std::fabs(x), std::fabs(y), 1e-3 * scale, 1e-6});
    if (!same) {
      char text[120];
      std::snprintf(text, sizeof text, "parameter element %zu is %.9g compiled, %.9g evaluated", i, x, y);
      return text;
    }
  }
  return "";
}

} // namespace

std::string Comparison::compare(elab::Elaborated &elaborated, DiagnosticEngine &diags) {
  plan::Plan plan = elaborated.plan;
  plan.total = std::min(plan.total, steps);
  mlir::OwningOpRef<mlir::ModuleOp> nd = elaborated.module->clone();
  auto program = compileNd(*elaborated.module, plan, nullptr, diags);
  if (!program)
    return "was checked and does not compile\n" + diags.render();
  auto native = Code::link(program->object, diags), plain = Code::interpret(*nd);
  if (!native)
    return "does not link\n" + diags.render();
  SessionOptions one, other;
  one.threads = 2;
  auto compiled = Execution::create(program->plan, native, std::move(one), diags);
  // Data that does not fit is refused when it is loaded.
  if (!compiled)
    return "";
  auto evaluated = Execution::create(plan, plain, std::move(other), diags);
  if (!evaluated)
    return "is loaded only when it is compiled\n" + diags.render();
  ++trains;
  DynStatus a = compiled->run().status, b = evaluated->run().status;
  if (a != b)
    return "ends with status " + std::to_string(a) + " compiled, " + std::to_string(b) + " evaluated";
  bool isSingle = plan.precision != plan::Element::f64;
  return a == DYN_OK ? difference(valuesOf(compiled->session()), valuesOf(evaluated->session()), isSingle) : "";
}

std::string Comparison::run(const std::string &path) {
  trains = 0;
  SourceManager sources;
  DiagnosticEngine diags(sources);
  SpecLibrary library(sources, diags);
  auto globals = std::make_shared<elab::Scope>();
  const ast::Program *program = library.open(path);
  if (!program)
    return "was checked and cannot be opened\n" + diags.render();
  for (auto &decl : program->declarations) {
    auto *train = ast::dynCast<ast::TrainDecl>(decl.get());
    if (!train || !llvm::all_of(train->parameters.items, [](auto &p) { return p.init != nullptr; }))
      continue;
    elab::TrainRequest request;
    request.decl = train;
    elab::Elaborator elaborator(*context, diags, library, globals);
    auto elaborated = elab::TrainElaborator(elaborator).run(request);
    if (!elaborated || !lowerToNd(*elaborated->module, diags))
      return "was checked and cannot be elaborated\n" + diags.render();
    if (!isSmall(elaborated->plan))
      continue;
    if (std::string why = compare(*elaborated, diags); !why.empty())
      return "train " + train->name.text + " " + why;
  }
  return "";
}
