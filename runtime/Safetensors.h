//===- Safetensors.h - named arrays in one file ---------------------------===//
//
// The published format: 8 bytes of header length (little endian), a JSON
// header {name: {dtype, shape, data_offsets}}, then the bytes.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_SAFETENSORS_H
#define DYN_RUNTIME_SAFETENSORS_H

#include "runtime/Plan.h"
#include "runtime/Status.h"

#include <map>
#include <string>
#include <vector>

namespace dyn {

/// A view of an array to write; `data` is borrowed.
struct TensorView {
  std::string name;
  plan::Element element = plan::Element::f32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// An array that was read.
struct Tensor {
  plan::Element element = plan::Element::f32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// Writes beside `path` and renames: the file is whole or absent.
Status writeSafetensors(const std::string &path, const std::vector<TensorView> &tensors);
Expected<std::map<std::string, Tensor>> readSafetensors(const std::string &path);

} // namespace dyn
#endif // DYN_RUNTIME_SAFETENSORS_H
