#include "frontend/driver/Execution.h"

#include "frontend/driver/Interpreter.h"
#include "runtime/Ending.h"
#include "runtime/jit/Jit.h"

#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace dyn {

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Code::Code() = default;
Code::~Code() = default;

std::shared_ptr<Code> Code::link(const std::string &object, DiagnosticEngine &diags) {
  auto loaded = Jit::load(object);
  if (!loaded) {
    diags.report(Diag::link_failed, Span(), llvm::toString(loaded.takeError()));
    return nullptr;
  }
  std::shared_ptr<Code> code(new Code());
  code->jit = std::move(*loaded);
  return code;
}

std::shared_ptr<Code> Code::interpret(mlir::ModuleOp nd) {
  std::shared_ptr<Code> code(new Code());
  code->interpreter = std::make_unique<Interpreter>(nd);
  return code;
}

EntryLookup Code::lookup() const {
  if (interpreter)
    return interpreter->lookup();
  return [this](const std::string &name) -> Entry {
    auto entry = jit->lookup(name);
    if (!entry) {
      llvm::consumeError(entry.takeError());
      return {};
    }
    return *entry;
  };
}

//===----------------------------------------------------------------------===//
// What a run left
//===----------------------------------------------------------------------===//

static elab::Elem elemOf(plan::Element element) {
  return element == plan::Element::i64  ? elab::Elem::Int
         : element == plan::Element::i1 ? elab::Elem::Bool
                                        : elab::Elem::Real;
}

std::shared_ptr<elab::Series> arrayOf(const Session &session, const plan::Leaf &leaf) {
  auto array = std::make_shared<elab::Series>();
  array->name = leaf.path;
  array->elem = elemOf(leaf.element);
  array->shape.assign(leaf.shape.begin(), leaf.shape.end());
  int64_t count = array->width();
  const void *data = session.data(leaf);
  for (int64_t i = 0; i < count; ++i)
    switch (leaf.element) {
    case plan::Element::f32:
      array->values.push_back(static_cast<const float *>(data)[i]);
      break;
    case plan::Element::f64:
      array->values.push_back(static_cast<const double *>(data)[i]);
      break;
    case plan::Element::i64:
      array->values.push_back(static_cast<double>(static_cast<const int64_t *>(data)[i]));
      break;
    case plan::Element::i1:
      array->values.push_back(static_cast<const uint8_t *>(data)[i] != 0);
      break;
    }
  return array;
}

/// Metrics and parameters of a session as values of an experiment.
static std::shared_ptr<elab::RunResult> resultOf(Session &session) {
  auto result = std::make_shared<elab::RunResult>();
  result->name = session.plan().name;
  for (const plan::Metric &metric : session.plan().metrics) {
    auto it = session.series().find(metric.name);
    result->series[metric.name] =
        it == session.series().end() ? elab::seriesOf(metric) : elab::seriesOf(metric, it->second.at, it->second.values);
  }
  for (const plan::Leaf &leaf : session.plan().kept())
    result->leaves.emplace_back(leaf.path, elab::Value(arrayOf(session, leaf)));
  for (const plan::Leaf &state : session.plan().states)
    if (state.owner == plan::modelOwner)
      result->states.emplace_back(state.path, elab::Value(arrayOf(session, state)));
  for (const plan::Leaf &state : session.plan().ruleStates)
    result->ruleStates.emplace_back(state.path, elab::Value(arrayOf(session, state)));
  result->checkpoints = session.checkpoints();
  return result;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

std::unique_ptr<Execution> Execution::create(const plan::Plan &plan, std::shared_ptr<Code> code, SessionOptions options,
                                             DiagnosticEngine &diags) {
  std::string mismatch = options.start ? options.start->mismatch(plan) : "";
  if (!mismatch.empty()) {
    diags.report(Diag::fork_differs, Span(), plan.name, options.start->clock.step, mismatch)
        .help("a fork goes on with the arrays of its run: change numbers, schedules, data, the length or the seed");
    return nullptr;
  }
  auto created = Session::create(plan, code->lookup(), std::move(options));
  if (!created) {
    diags.report(Diag::session_failed, Span(), created.status().message());
    return nullptr;
  }
  std::unique_ptr<Execution> execution(new Execution());
  execution->code = std::move(code);
  execution->running = std::move(*created);
  if (Status loaded = execution->running->load(); !loaded.isOk()) {
    diags.report(Diag::load_failed, Span(), loaded.message());
    return nullptr;
  }
  return execution;
}

const Outcome &Execution::run() {
  ended = running->run();
  checkLastUpdate(*running, ended);
  return ended;
}

std::shared_ptr<elab::RunResult> Execution::result() const {
  auto result = resultOf(*running);
  result->diverged = ended.status == DYN_NOT_FINITE;
  result->divergedAt = ended.step;
  return result;
}

std::string Execution::summary() const {
  return dyn::summary(*running, ended);
}

void Execution::explain(const NdModule &nd, DiagnosticEngine &diags, const SourceManager &sources) {
  if (ended.status != DYN_NOT_FINITE) {
    if (!ended.message.empty())
      diags.report(Diag::stopped, Span(), ended.message);
    return;
  }
  const plan::Leaf *leaf = notFiniteLeaf(*running);
  mlir::ModuleOp module = leaf ? nullptr : nd(); // before the report: an error so far would end its lowering
  auto message = diags.report(Diag::not_finite, Span(), ended.message);
  if (leaf) {
    message.note(describeLeaf(*leaf, ended));
    return;
  }
  if (!module)
    return;
  Interpreter interpreter(module);
  interpreter.observe = [&](mlir::Operation *op, llvm::ArrayRef<nd::NdArray> results) {
    for (const nd::NdArray &array : results)
      if (array.isFloat() && !llvm::all_of(array.floats(), [](double x) { return std::isfinite(x); })) {
        message.note(spanOf(op->getLoc(), sources),
                     "the first operation that is not finite is `" + op->getName().stripDialect().str() + "`");
        return mlir::failure();
      }
    return mlir::success();
  };
  running->context().status = DYN_OK;
  interpreter.call("update", &running->context());
}

double millisecondsSinceStart() {
  std::ifstream status("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(status)), {});
  size_t name = text.rfind(')');
  if (name == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(name + 2));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) // 22: when it started, in ticks since boot
    ;
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  double started = std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return (static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started) * 1e3;
}

} // namespace dyn
