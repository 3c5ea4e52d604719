//===- SumOfProducts.h - a sum of products as a network of factors --------===//
//
// A value made of products, quotients, broadcasts, reshapes and outer products
// is a product of factors whose dimensions have letters; a sum over some of
// the letters may then be taken in any order. This finds the factors, and the
// cheapest order of contracting two at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_CONTRACT_SUMOFPRODUCTS_H
#define DYN_PASSES_CONTRACT_SUMOFPRODUCTS_H

#include "dialects/Nd/NdOps.h"

#include <map>
#include <optional>

namespace dyn::contract {

class SumOfProducts {
public:
  SumOfProducts(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// The sum of `x` over its dimensions `dims` by contractions, if that is at most `gain` of the cost of making the
  /// product and adding it up; else null. Ops that were built on the way are dead then.
  mlir::Value sumOver(mlir::Value x, llvm::ArrayRef<int64_t> dims);

private:
  using Letters = llvm::SmallVector<int>;
  struct Factor {
    mlir::Value value;
    Letters letters; ///< one a dimension
    bool reciprocal = false;

    bool operator==(const Factor &other) const {
      return value == other.value && letters == other.letters && reciprocal == other.reciprocal;
    }
  };
  /// How a set of factors is contracted: the set's two halves, and what it costs.
  struct Step {
    unsigned left = 0, right = 0;
    double cost = 0;
  };

  int fresh(int64_t size);
  double elements(llvm::ArrayRef<int> letters) const;
  void collect(mlir::Value x, Letters letters);
  bool collectSelect(nd::SelectOp op, const Letters &letters);
  bool collectReshape(nd::ReshapeOp op, const Letters &letters);
  std::optional<Letters> splitLetters(llvm::ArrayRef<int64_t> fine, llvm::ArrayRef<int64_t> coarse, const Letters &letters);
  mlir::Value product(llvm::ArrayRef<Factor> parts, const Letters &over);
  mlir::Value spread(const Factor &factor, const Letters &over);
  Letters resolved(llvm::ArrayRef<int> letters) const;
  void resolveFactors();
  Letters keptOf(unsigned set, llvm::ArrayRef<int> out) const;
  double costOf(llvm::ArrayRef<int> a, llvm::ArrayRef<int> b, llvm::ArrayRef<int> result) const;
  std::vector<Step> plan(llvm::ArrayRef<int> out) const;
  Factor build(unsigned set, const std::vector<Step> &steps, llvm::ArrayRef<int> out);
  std::string names(llvm::ArrayRef<int> letters, std::map<int, char> &chars) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<int64_t> sizes;  ///< of each letter
  std::map<int, Letters> splits;     ///< letters of which a reshape has made several
  llvm::SmallVector<Factor> factors;
  mlir::Type factorElement;
};

} // namespace dyn::contract

#endif // DYN_PASSES_CONTRACT_SUMOFPRODUCTS_H
