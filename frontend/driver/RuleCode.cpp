#include "frontend/driver/RuleCode.h"

#include "dialects/interfaces/Interfaces.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace dyn {

//===----------------------------------------------------------------------===//
// What can be a library
//===----------------------------------------------------------------------===//

bool asksForObjective(ModuleOp dyn) {
  bool asks = false;
  dyn.walk([&](Operation *op) { asks |= isa<ir::LossOp, ir::GradientOp>(op); });
  return asks;
}

void dropProgram(ModuleOp nd) {
  for (auto program : llvm::make_early_inc_range(nd.getOps<run::ProgramOp>()))
    program.erase();
  nd.walk([](run::WriteOp write) {
    auto function = write->getParentOfType<func::FuncOp>();
    if (function.getName() == "init" && write.getArena() == DYN_RULE_PARAMS)
      write.erase();
  });
}

/// Whether a value is a number, or has one element for each parameter of the range.
static bool fitsRange(Value value, int64_t count) {
  RankedTensorType type = nd::typeOf(value);
  return type.getRank() == 0 || type.getNumElements() == count;
}

/// Ops that say the same of each element, and of no other.
static bool isElementwise(Operation *op, int64_t count) {
  if (auto read = dyn_cast<run::ReadOp>(op))
    return read.getOffset() == 0 && nd::typeOf(read).getNumElements() == count;
  if (auto write = dyn_cast<run::WriteOp>(op))
    return write.getOffset() == 0 && nd::typeOf(write.getValue()).getNumElements() == count;
  if (auto constant = dyn_cast<nd::ConstantOp>(op); constant && !cast<DenseElementsAttr>(constant.getValue()).isSplat())
    return false;
  if (auto wide = dyn_cast<nd::BroadcastOp>(op); wide && nd::typeOf(wide.getInput()).getRank() != 0)
    return false;
  bool known = isa<run::NumberOp, run::ClockOp, nd::ConstantOp, nd::BroadcastOp, nd::ReshapeOp, func::ReturnOp>(op) ||
               op->hasTrait<Elementwise>();
  return known && llvm::all_of(op->getResults(), [&](Value result) { return fitsRange(result, count); });
}

std::optional<NoLibrary> whyNoLibrary(ModuleOp nd, int64_t count) {
  std::optional<NoLibrary> reason;
  nd.walk([&](Operation *op) {
    auto clock = dyn_cast<run::ClockOp>(op);
    if (clock && clock.getKind() != run::ClockKind::step)
      reason = {"follows the length of a run", "set the hyperparameter before each step in place of a schedule"};
    else if (isa<nd::DrawOp>(op))
      reason = {"draws random numbers", ""};
  });
  if (reason || !count)
    return reason;
  nd.walk([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp>(op) && !isElementwise(op, count))
      reason = {"does not work element by element", "say the shapes of the leaves: --rule 'NAME on [64, 32] [32]'"};
  });
  return reason;
}

//===----------------------------------------------------------------------===//
// Constants of the library (runtime/rule/Rule.h)
//===----------------------------------------------------------------------===//

namespace {

class InterfaceWriter {
public:
  InterfaceWriter(llvm::Module &code, const RuleCode &rule) : code(code), rule(rule), context(code.getContext()) {}

  void write(const plan::Plan &plan, const std::vector<plan::Number> &numbers, const std::vector<int64_t> &lengths) {
    descriptor = constant(llvm::ConstantStruct::getAnon(
        {rangesOf(lengths), i64(int64_t(lengths.size())), i64(rule.count), i64(plan::sizeOf(plan.precision)),
         arenasOf(plan), i64(int64_t(plan.arenas.size())), numbersOf(numbers), i64(int64_t(numbers.size())),
         defaults()}));
    auto *size = llvm::Type::getInt64Ty(context);
    auto *pointer = llvm::PointerType::get(context, 0);
    auto *none = llvm::Type::getVoidTy(context);
    // The number of parameters is an argument, or known.
    std::vector<llvm::Type *> count;
    if (!rule.fixed)
      count = {size};
    auto withCount = [&](std::vector<llvm::Type *> before, std::vector<llvm::Type *> after) {
      before.insert(before.end(), count.begin(), count.end());
      before.insert(before.end(), after.begin(), after.end());
      return before;
    };
    forward("state_size", "dyn_rule_state_size", size, withCount({}, {}), 0);
    forward("init", "dyn_rule_init", pointer, withCount({pointer}, {pointer}), 1);
    forward("step", "dyn_rule_step", none, {pointer, pointer, pointer, pointer}, -1);
    forward("steps", "dyn_rule_steps", size, {pointer}, -1, {}, /*describes=*/false);
    forward("set_steps", "dyn_rule_set_steps", none, {pointer, size}, -1, {}, /*describes=*/false);
    for (auto [i, state] : llvm::enumerate(rule.states))
      forward(state.name, "dyn_rule_array", pointer, {pointer}, -1, {i64(int64_t(i))});
  }

private:
  llvm::Constant *i64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  llvm::Constant *i32(int32_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
  }
  llvm::Constant *f64(double value) { return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), value); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0)); }
  llvm::GlobalVariable *constant(llvm::Constant *value) {
    return new llvm::GlobalVariable(code, value->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                    value);
  }
  /// Null when the list is empty.
  llvm::Constant *list(const std::vector<llvm::Constant *> &items) {
    if (items.empty())
      return null();
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(items[0]->getType(), items.size()), items));
  }

  llvm::Constant *entry(const std::string &name, int64_t length) {
    auto *pointer = llvm::PointerType::get(context, 0);
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
    auto callee = code.getOrInsertFunction(rule.prefix + "_" + name + "_" + std::to_string(length), type);
    auto *function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return function;
  }
  llvm::Constant *rangesOf(const std::vector<int64_t> &lengths) {
    std::vector<llvm::Constant *> items;
    for (int64_t length : lengths)
      items.push_back(llvm::ConstantStruct::getAnon({i64(length), entry("init", length), entry("update", length)}));
    return list(items);
  }
  llvm::Constant *arenasOf(const plan::Plan &plan) {
    std::vector<llvm::Constant *> items;
    for (auto [i, arena] : llvm::enumerate(plan.arenas)) {
      int32_t role = i == 0                   ? DYN_RULE_PARAMS
                     : arena.role == "grads" ? DYN_RULE_GRADS
                     : arena.role == "state" ? DYN_RULE_STATE
                                             : DYN_RULE_WORK;
      int64_t each = role == DYN_RULE_STATE && !rule.fixed ? arena.bytes / lengthOf(plan) : 0;
      items.push_back(llvm::ConstantStruct::getAnon({i32(role), i32(int32_t(each)), i64(arena.bytes)}));
    }
    return list(items);
  }
  static int64_t lengthOf(const plan::Plan &plan) { return plan.arenas[0].bytes / plan::sizeOf(plan.precision); }

  llvm::Constant *numbersOf(const std::vector<plan::Number> &numbers) {
    std::vector<std::string> names;
    for (const standalone::Hyperparameter &each : rule.settable())
      names.push_back(each.name);
    std::vector<llvm::Constant *> items;
    for (const plan::Number &number : numbers) {
      std::vector<llvm::Constant *> words;
      if (auto codes = compileFormula(number.formula, names))
        for (const DynFormulaCode &word : *codes)
          words.push_back(llvm::ConstantStruct::getAnon({i32(word.code), i32(word.variable), f64(word.value)}));
      items.push_back(llvm::ConstantStruct::getAnon({list(words), i64(int64_t(words.size())), f64(number.value)}));
    }
    return list(items);
  }
  llvm::Constant *defaults() {
    std::vector<llvm::Constant *> values;
    for (const standalone::Hyperparameter &each : rule.settable())
      values.push_back(f64(each.value));
    return list(values);
  }

  /// Defines PREFIX_name, which calls `callee` with the descriptor in front, the known count put in at `countAt` (if
  /// there is one to put), and `more` at the end.
  void forward(const std::string &name, const char *callee, llvm::Type *result, std::vector<llvm::Type *> parameters,
               int countAt, std::vector<llvm::Constant *> more = {}, bool describes = true) {
    auto *type = llvm::FunctionType::get(result, parameters, false);
    auto *function =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, rule.prefix + "_" + name, code);
    std::vector<llvm::Value *> arguments;
    for (llvm::Argument &argument : function->args())
      arguments.push_back(&argument);
    if (countAt >= 0 && rule.fixed)
      arguments.insert(arguments.begin() + countAt, i64(rule.count));
    if (describes)
      arguments.insert(arguments.begin(), descriptor);
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    auto target = code.getOrInsertFunction(callee, llvm::FunctionType::get(result, types, false));
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
    llvm::CallInst *call = b.CreateCall(target, arguments);
    if (result->isVoidTy())
      b.CreateRetVoid();
    else
      b.CreateRet(call);
  }

  llvm::Module &code;
  const RuleCode &rule;
  llvm::LLVMContext &context;
  llvm::GlobalVariable *descriptor = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

std::vector<standalone::Hyperparameter> RuleCode::settable() const {
  std::vector<standalone::Hyperparameter> list;
  llvm::copy_if(hyperparameters, std::back_inserter(list), [](auto &each) { return !each.fixed; });
  return list;
}

/// Names of the library in place of those of the module, which the program's other code may have as well.
static void nameRange(llvm::Module &code, const std::string &prefix, int64_t length) {
  for (llvm::Function &function : code) {
    if (function.isDeclaration())
      continue;
    bool entry = function.getName() == "init" || function.getName() == "update";
    function.setLinkage(entry ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
    if (!entry)
      continue;
    function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    function.setName(prefix + "_" + function.getName().str() + "_" + std::to_string(length));
  }
  if (llvm::Function *threads = code.getFunction("dyn_parallel_for"))
    threads->setName("dyn_rule_for");
}

/// Functions of the runtime that the code calls and a library does not have.
static std::optional<std::string> missingFunction(llvm::Module &code) {
  for (llvm::Function &function : code)
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with("dyn_") &&
        !function.getName().starts_with("dyn_rule_"))
      return function.getName().str();
  return std::nullopt;
}

/// "optimizer adamw.m": `m`; of a rule that it holds, `base_m`. A name that another function of the library has gets an
/// underscore.
static std::string nameInC(const plan::Leaf &state) {
  std::string name = llvm::join(llvm::drop_begin(llvm::split(state.path, '.')), "_");
  constexpr llvm::StringRef others[] = {"state", "state_size", "hyper", "init", "step", "steps", "set_steps"};
  return llvm::is_contained(others, name) ? name + "_" : name;
}

bool RuleCode::compile(ModuleOp nd, plan::Plan plan, int64_t length, bool last, const Target &target,
                       DiagnosticEngine &diags) {
  if (objects.empty()) {
    numbers = plan.numbers;
    cpu = target.host.cpu;
    for (const plan::Leaf &state : plan.states) {
      int64_t elements = 1;
      for (int64_t size : state.shape)
        elements *= size;
      states.push_back({nameInC(state), state.element, elements});
    }
    if (fixed)
      count = plan.arenas[0].bytes / plan::sizeOf(plan.precision);
  }
  length = fixed ? count : length;
  lengths.push_back(length);
  std::optional<std::string> missing;
  bool large = false;
  auto finish = [&](llvm::Module &code) {
    nameRange(code, prefix, length);
    missing = missingFunction(code);
    large = plan.arenas.size() > DYN_RULE_ARENAS || plan.numbers.size() > DYN_RULE_NUMBERS;
    if (last)
      InterfaceWriter(code, *this).write(plan, numbers, lengths);
  };
  PassErrors errors(*nd.getContext(), diags);
  size_t before = diags.errorCount();
  auto object = compileToObject(nd, plan, target, {}, nullptr, finish);
  if (mlir::failed(object) || diags.errorCount() != before)
    return false;
  if (missing || large) {
    diags.report(Diag::build_rule, Span(), rule,
                 !missing ? "has too many states or numbers"
                 : *missing == "dyn_matmul" ? "multiplies matrices, which the runtime does"
                                            : "needs `" + *missing + "` of the runtime");
    return false;
  }
  objects.emplace_back(prefix + "_" + std::to_string(length) + ".o", std::move(*object));
  return true;
}

} // namespace dyn
