//===- NdArray.h - values of the plain evaluator --------------------------===//
#ifndef DYN_DIALECTS_ND_NDARRAY_H
#define DYN_DIALECTS_ND_NDARRAY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace dyn::nd {

/// Element type of an array; `elementOf` reads it off a type.
enum class Element { f32, f64, i64, i1 };
Element elementOf(mlir::Type type);
inline bool isFloat(Element element) { return element == Element::f32 || element == Element::f64; }

/// A row-major array. Floats are stored as doubles (f32 ones rounded to f32), the others as int64_t. Copies share
/// their values, which never change after construction.
class NdArray {
public:
  using Shape = llvm::SmallVector<int64_t, 4>;

  NdArray() = default;
  /// Takes the values; those of f32 are rounded to f32.
  NdArray(llvm::ArrayRef<int64_t> shape, Element element, std::vector<double> values);
  NdArray(llvm::ArrayRef<int64_t> shape, Element element, std::vector<int64_t> values);

  static NdArray scalar(double value, Element element = Element::f64) {
    return NdArray({}, element, std::vector<double>{value});
  }
  static NdArray scalar(int64_t value, Element element = Element::i64) {
    return NdArray({}, element, std::vector<int64_t>{value});
  }
  /// The value of a constant; fails for attributes whose bytes are elsewhere.
  static llvm::FailureOr<NdArray> fromAttribute(mlir::ElementsAttr attribute);
  /// All elements `value`, of a type.
  static NdArray filled(mlir::RankedTensorType type, double value);

  llvm::ArrayRef<int64_t> shape() const { return dims; }
  Element element() const { return kind; }
  int64_t rank() const { return int64_t(dims.size()); }
  int64_t size() const;
  bool isFloat() const { return nd::isFloat(kind); }
  /// Valid for f32, f64.
  const std::vector<double> &floats() const { return *real; }
  /// Valid for i64, i1.
  const std::vector<int64_t> &ints() const { return *whole; }
  /// Element i, whatever the type.
  double at(int64_t i) const { return isFloat() ? (*real)[i] : double((*whole)[i]); }
  /// Whether type, hidden axes aside, is this array's.
  bool fits(mlir::Type type) const;
  /// The same values under another shape.
  NdArray reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// As a constant of `type`, which fits.
  mlir::DenseElementsAttr toAttribute(mlir::RankedTensorType type) const;

private:
  Shape dims;
  Element kind = Element::f64;
  std::shared_ptr<const std::vector<double>> real;
  std::shared_ptr<const std::vector<int64_t>> whole;
};

/// Number of elements of a shape.
int64_t sizeOf(llvm::ArrayRef<int64_t> shape);
/// Row-major strides of a shape.
NdArray::Shape stridesOf(llvm::ArrayRef<int64_t> shape);
/// Element `[i…]` is x at offset + sum of i_d * strides[d].
NdArray readStrided(const NdArray &x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                    int64_t offset = 0);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDARRAY_H
