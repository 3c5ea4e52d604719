//===- DynDialect.td - the dialect and its tensor encodings ---------------===//
#ifndef DYN_DYN_DIALECT_TD
#define DYN_DYN_DIALECT_TD

include "dialects/interfaces/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dyn_Dialect : Dialect {
  let name = "dyn";
  let cppNamespace = "::dyn::ir";
  let summary = "What a spec says: sockets, objectives, hidden axes.";
  let description = [{
    Mathematics at this level is ops of `nd` on the value of one example or of all leaves; the encoding of a tensor
    type says what is hidden. The ops here are the places where hidden axes begin (`dyn.field`), meet
    (`dyn.over`, `dyn.leaf_reduce`) or spread (`dyn.vary`, `dyn.leaf_spread`), the objective and its gradient, and
    the sockets of a train. See README.md in this folder.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Dyn_Encoding<string name, string attrMnemonic>
    : AttrDef<Dyn_Dialect, name, [DeclareAttrInterfaceMethods<HiddenAxes>]> {
  let mnemonic = attrMnemonic;
}

def Dyn_AxesAttr : Dyn_Encoding<"Axes", "axes"> {
  let summary = "the named axes over which a value varies besides its visible dimensions";
  let description = [{
    `tensor<64xf32, #dyn.axes<["example"]>>` is one vector of 64 for each example. Names are sorted; two sets meet
    in their union. `range` is how the visible dimension is cut, if the value is also leaf-wise or a tree:
    `tensor<650xf32, #dyn.axes<["example"], #dyn.tree<[[64, 10], [10]]>>>` is one tree for each example.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, OptionalParameter<"::mlir::Attribute">:$range);
  let assemblyFormat = "`<` `[` $names `]` (`,` $range^)? `>`";
  let extraClassDeclaration = [{
    bool contains(::llvm::StringRef name) const;
    /// The set of `names`, sorted, on a value cut by `range` (null: not cut).
    static AxesAttr of(::mlir::MLIRContext *context, ::llvm::ArrayRef<::llvm::StringRef> names,
                       ::mlir::Attribute range = {});
    /// Without `name`: the range, or null, when no axis is left.
    ::mlir::Attribute without(::llvm::StringRef name) const;
  }];
}

class Dyn_RangeEncoding<string name, string mnemonic> : Dyn_Encoding<name, mnemonic> {
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$shapes);
  let assemblyFormat = "`<` `[` $shapes `]` `>`";
  let extraClassDeclaration = [{
    /// Where each leaf begins in the range, and the size of all: one entry more than there are leaves.
    ::llvm::SmallVector<int64_t> offsets() const;
  }];
}

def Dyn_LeavesAttr : Dyn_RangeEncoding<"Leaves", "leaves"> {
  let summary = "a leaf-wise value: a flat range cut into leaves of these shapes";
  let description = [{
    `tensor<650xf32, #dyn.leaves<[[64, 10], [10]]>>`. The axis `leaf` is hidden: a visible
    reduction stays within each leaf (`dyn.leaf_reduce`).
  }];
}

def Dyn_TreeAttr : Dyn_RangeEncoding<"Tree", "tree"> {
  let summary = "a whole tree: the same bytes as its leaves, one value";
  let description = [{
    A visible reduction takes all elements of all leaves. In a train all trees have the parameters' paths, which need not
    be said; those of finished runs, which meet in an experiment, say theirs:
    `tensor<650xf64, #dyn.tree<[[64, 10], [10]], ["net.W", "net.b"]>>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$shapes,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$paths);
  let assemblyFormat = "`<` `[` $shapes `]` (`,` `[` $paths^ `]`)? `>`";
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mlir::DenseI64ArrayAttr>":$shapes), [{
    return $_get($_ctxt, shapes, ::llvm::ArrayRef<::mlir::StringAttr>());
  }]>];
}

def Dyn_PerLeafAttr : Dyn_Encoding<"PerLeaf", "per_leaf"> {
  let summary = "one number for each leaf";
  let description = [{`tensor<2xf32, #dyn.per_leaf<2>>`: its only dimension is the axis `leaf`.}];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

#endif // DYN_DYN_DIALECT_TD
