//===- NdBase.td - what every op of nd is made of -------------------------===//
//
// Families of ops in files of their own (NdElementwise.td, NdOps.td,
// NdLibraryOps.td) start from here.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_ND_BASE_TD
#define DYN_ND_BASE_TD

include "dialects/Nd/NdDialect.td"
include "dialects/interfaces/Interfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nd_Any : StaticShapeTensorOf<[F32, F64, I64, I1]>;
def Nd_Number : StaticShapeTensorOf<[F32, F64, I64]>;
def Nd_Float : StaticShapeTensorOf<[F32, F64]>;
def Nd_I64Tensor : StaticShapeTensorOf<[I64]>;
def Nd_Bool : StaticShapeTensorOf<[I1]>;

class Nd_BaseOp<string mnemonic, list<Trait> traits = []>
    : Op<Nd_Dialect, mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<Differentiable, ["buildJvp", "notDifferentiableReason"]>,
         DeclareOpInterfaceMethods<Batchable>], traits)>;

class Nd_Op<string mnemonic, list<Trait> traits = []> : Nd_BaseOp<mnemonic, !listconcat([Pure], traits)>;

#endif // DYN_ND_BASE_TD
