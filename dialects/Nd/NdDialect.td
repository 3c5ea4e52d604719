//===- NdDialect.td - the dialect and its attributes ----------------------===//
#ifndef DYN_ND_DIALECT_TD
#define DYN_ND_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Nd_Dialect : Dialect {
  let name = "nd";
  let cppNamespace = "::dyn::nd";
  let summary = "Pure array mathematics on static tensors.";
  let description = [{
    A small closed set of ops. All are pure, nothing broadcasts implicitly, every op has derivatives, a batching
    rule, a plain evaluator and a lowering. See README.md in this folder.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class Nd_Enum<string name, string summary, list<string> names>
    : I32Enum<name, summary, !foreach(i, !range(!size(names)), I32EnumCase<names[i], i>)> {
  let cppNamespace = "::dyn::nd";
}
class Nd_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Nd_Dialect, info, mnemonic>;

def Nd_CompareKindEnum : Nd_Enum<"CompareKind", "order relation", ["eq", "ne", "lt", "le", "gt", "ge"]>;
def Nd_CompareKind : Nd_EnumAttr<Nd_CompareKindEnum, "compare">;

def Nd_ReduceKindEnum : Nd_Enum<"ReduceKind", "how elements are combined",
                                ["sum", "prod", "max", "min", "any", "all"]>;
def Nd_ReduceKind : Nd_EnumAttr<Nd_ReduceKindEnum, "kind">;

def Nd_ScatterModeEnum : Nd_Enum<"ScatterMode", "what a scatter does at an index", ["add", "set"]>;
def Nd_ScatterMode : Nd_EnumAttr<Nd_ScatterModeEnum, "mode">;

def Nd_DistEnum : Nd_Enum<"Dist", "distribution of a draw; numbered as dyn_draw's argument",
                          ["uniform", "normal", "bits"]>;
def Nd_Dist : Nd_EnumAttr<Nd_DistEnum, "dist">;

def Nd_StreamEnum : Nd_Enum<"Stream", "seed stream of a draw; numbered as DynContext::seeds",
                            ["init", "order", "data", "noise"]>;
def Nd_Stream : Nd_EnumAttr<Nd_StreamEnum, "stream">;

#endif // DYN_ND_DIALECT_TD
