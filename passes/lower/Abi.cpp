//===- Abi.cpp - generated code's view of runtime/abi.h -------------------===//
//
// Offsets come from the C struct, types of functions from the C signatures:
// neither can drift from what the runtime was compiled with.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Abi.h"

#include "passes/lower/Elements.h"
#include "passes/lower/Passes.h"
#include "runtime/abi.h"

#include <cstddef>

using namespace mlir;

namespace dyn::lower {
namespace {

template <typename T> Type typeFor(MLIRContext *context) {
  if constexpr (std::is_void_v<T>)
    return LLVM::LLVMVoidType::get(context);
  else if constexpr (std::is_pointer_v<T>)
    return LLVM::LLVMPointerType::get(context);
  else if constexpr (std::is_same_v<T, double>)
    return Float64Type::get(context);
  else
    return IntegerType::get(context, sizeof(T) * 8);
}

template <typename Result, typename... Parameters>
LLVM::LLVMFunctionType functionType(MLIRContext *context, Result (*)(Parameters...)) {
  SmallVector<Type> inputs{typeFor<Parameters>(context)...};
  return LLVM::LLVMFunctionType::get(typeFor<Result>(context), inputs);
}

LLVM::LLVMFunctionType typeOfRow(MLIRContext *context, StringRef name) {
#define DYN_FUNCTION(NAME, RESULT, PARAMETERS, DOC)                                                                    \
  if (name == #NAME)                                                                                                   \
    return functionType(context, static_cast<decltype(&NAME)>(nullptr));
#include "runtime/Functions.def"
#undef DYN_FUNCTION
  llvm_unreachable("only rows of Functions.def are called");
}

Value byteOffset(OpBuilder &b, Location loc, Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(b, loc, pointerType(b.getContext()), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

Value loadAt(OpBuilder &b, Location loc, Value base, int64_t bytes, Type type) {
  return LLVM::LoadOp::create(b, loc, type, byteOffset(b, loc, base, bytes));
}

} // namespace

Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }

void declareRuntime(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto declare = [&](StringRef name) {
    if (!module.lookupSymbol(name))
      LLVM::LLVMFuncOp::create(b, module.getLoc(), name, typeOfRow(module.getContext(), name));
  };
#define DYN_FUNCTION(NAME, RESULT, PARAMETERS, DOC) declare(#NAME);
#include "runtime/Functions.def"
#undef DYN_FUNCTION
}

Value callRuntime(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  auto call = LLVM::CallOp::create(b, loc, typeOfRow(b.getContext(), name), name, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

int32_t elementCode(Type element) {
  if (element.isF32())
    return 0;
  if (element.isF64())
    return 1;
  return element.isInteger(64) ? 2 : 3;
}

Value loadArena(OpBuilder &b, Location loc, Value context, int64_t arena) {
  Value arenas = loadAt(b, loc, context, offsetof(DynContext, arenas), pointerType(b.getContext()));
  return loadAt(b, loc, arenas, arena * sizeof(void *), pointerType(b.getContext()));
}

Value loadNumber(OpBuilder &b, Location loc, Value context, int64_t index) {
  Value numbers = loadAt(b, loc, context, offsetof(DynContext, numbers), pointerType(b.getContext()));
  return loadAt(b, loc, numbers, index * sizeof(double), b.getF64Type());
}

Value loadClock(OpBuilder &b, Location loc, Value context, int64_t kind) {
  return loadAt(b, loc, context, offsetof(DynContext, clock) + kind * sizeof(int64_t), b.getI64Type());
}

Value loadBatchRows(OpBuilder &b, Location loc, Value context, int64_t feed) {
  Value batches = loadAt(b, loc, context, offsetof(DynContext, batches), pointerType(b.getContext()));
  return loadAt(b, loc, batches, feed * sizeof(DynBatch) + offsetof(DynBatch, rows), pointerType(b.getContext()));
}

Value loadBatchCount(OpBuilder &b, Location loc, Value context, int64_t feed) {
  Value batches = loadAt(b, loc, context, offsetof(DynContext, batches), pointerType(b.getContext()));
  return loadAt(b, loc, batches, feed * sizeof(DynBatch) + offsetof(DynBatch, count), b.getI64Type());
}

Value loadIsOk(OpBuilder &b, Location loc, Value context) {
  Value status = loadAt(b, loc, context, offsetof(DynContext, status), b.getI32Type());
  Value ok = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(DYN_OK));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, status, ok);
}

void callFail(OpBuilder &b, Location loc, Value context, int32_t status, int64_t site, Value value, Value bound) {
  auto i32 = [&](int32_t x) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(x)).getResult(); };
  callRuntime(b, loc, "dyn_fail", {context, i32(status), i32(int32_t(site)), value, bound});
}

void callPart(OpBuilder &b, Location loc, StringRef name, Value context, IntegerAttr part) {
  callRuntime(b, loc, name, {context, i64Constant(b, loc, part.getInt())});
}

} // namespace dyn::lower
