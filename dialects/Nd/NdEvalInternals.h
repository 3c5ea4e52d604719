//===- NdEvalInternals.h - parts of the evaluator's table -----------------===//
#ifndef DYN_DIALECTS_ND_NDEVALINTERNALS_H
#define DYN_DIALECTS_ND_NDEVALINTERNALS_H

#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdOps.h"

namespace dyn::nd {

void addElementwise(EvalTable &table);
void addStructured(EvalTable &table);
void addReductions(EvalTable &table);
void addRegions(EvalTable &table);
void addWindows(EvalTable &table);
void addLibrary(EvalTable &table);

/// Adds `fn(evaluator, op, operands, results)` for ops of type OpTy.
template <typename OpTy, typename Fn>
void addEval(EvalTable &table, Fn fn) {
  table[mlir::TypeID::get<OpTy>()] = [fn](Evaluator &evaluator, mlir::Operation *op, llvm::ArrayRef<NdArray> operands,
                                          ValueMap &, NdArrays &results) {
    return fn(evaluator, mlir::cast<OpTy>(op), operands, results);
  };
}

/// The neutral element of a reduction, as a double or as an i64.
double neutralFloat(ReduceKind kind);
int64_t neutralInt(ReduceKind kind);
/// One step of a reduction; nan wins over max and min.
double combine(ReduceKind kind, double x, double y);
int64_t combine(ReduceKind kind, int64_t x, int64_t y);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDEVALINTERNALS_H
