#include "dialects/Nd/NdArray.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

Element nd::elementOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isF32())
    return Element::f32;
  if (type.isF64())
    return Element::f64;
  return type.isInteger(1) ? Element::i1 : Element::i64;
}

NdArray::NdArray(ArrayRef<int64_t> shape, Element element, std::vector<double> values)
    : dims(shape.begin(), shape.end()), kind(element) {
  if (element == Element::f32)
    for (double &value : values)
      value = double(float(value));
  real = std::make_shared<const std::vector<double>>(std::move(values));
}

NdArray::NdArray(ArrayRef<int64_t> shape, Element element, std::vector<int64_t> values)
    : dims(shape.begin(), shape.end()), kind(element),
      whole(std::make_shared<const std::vector<int64_t>>(std::move(values))) {}

FailureOr<NdArray> NdArray::fromAttribute(ElementsAttr attribute) {
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return failure();
  auto type = dense.getType();
  Element element = elementOf(type);
  if (nd::isFloat(element)) {
    std::vector<double> values;
    values.reserve(type.getNumElements());
    for (const APFloat &value : dense.getValues<APFloat>())
      values.push_back(value.convertToDouble());
    return NdArray(type.getShape(), element, std::move(values));
  }
  std::vector<int64_t> values;
  values.reserve(type.getNumElements());
  for (const APInt &value : dense.getValues<APInt>())
    values.push_back(element == Element::i1 ? int64_t(value.getBoolValue()) : value.getSExtValue());
  return NdArray(type.getShape(), element, std::move(values));
}

NdArray NdArray::filled(RankedTensorType type, double value) {
  Element element = elementOf(type);
  if (nd::isFloat(element))
    return NdArray(type.getShape(), element, std::vector<double>(type.getNumElements(), value));
  return NdArray(type.getShape(), element, std::vector<int64_t>(type.getNumElements(), int64_t(value)));
}

int64_t NdArray::size() const { return sizeOf(dims); }

bool NdArray::fits(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getShape() == shape() && elementOf(tensor) == kind;
}

NdArray NdArray::reshaped(ArrayRef<int64_t> shape) const {
  NdArray result = *this;
  result.dims.assign(shape.begin(), shape.end());
  return result;
}

DenseElementsAttr NdArray::toAttribute(RankedTensorType type) const {
  switch (kind) {
  case Element::f64:
    return DenseElementsAttr::get(type, ArrayRef<double>(*real));
  case Element::f32:
    return DenseElementsAttr::get(type, ArrayRef<float>(SmallVector<float>(real->begin(), real->end())));
  case Element::i64:
    return DenseElementsAttr::get(type, ArrayRef<int64_t>(*whole));
  case Element::i1:
    return DenseElementsAttr::get(type, ArrayRef<bool>(SmallVector<bool>(whole->begin(), whole->end())));
  }
  llvm_unreachable("all element types are handled");
}

int64_t nd::sizeOf(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t dim : shape)
    size *= dim;
  return size;
}

NdArray::Shape nd::stridesOf(ArrayRef<int64_t> shape) {
  NdArray::Shape strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// Copies along the last dimension in a plain loop, the others by counting up.
template <typename T>
static std::vector<T> copyStrided(const std::vector<T> &from, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                  int64_t offset) {
  std::vector<T> to;
  int64_t size = sizeOf(shape);
  to.reserve(size);
  if (size == 0)
    return to;
  if (shape.empty())
    return {from[offset]};
  SmallVector<int64_t, 4> index(shape.size(), 0);
  int64_t inner = shape.back(), step = strides.back(), position = offset;
  while (int64_t(to.size()) < size) {
    for (int64_t i = 0; i < inner; ++i)
      to.push_back(from[position + i * step]);
    for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d) {
      position += strides[d];
      if (++index[d] < shape[d])
        break;
      position -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return to;
}

NdArray nd::readStrided(const NdArray &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset) {
  if (x.isFloat())
    return NdArray(shape, x.element(), copyStrided(x.floats(), shape, strides, offset));
  return NdArray(shape, x.element(), copyStrided(x.ints(), shape, strides, offset));
}
