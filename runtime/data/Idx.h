//===- Idx.h - the MNIST format, plain or gzip ----------------------------===//
//
// Two zero bytes, a type (0x08 u8, 0x09 i8, 0x0b i16, 0x0c i32, 0x0d f32, 0x0e
// f64), the number of dimensions, each as a big-endian 32-bit size, then the
// values, big endian. The first dimension counts rows.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DATA_IDX_H
#define DYN_RUNTIME_DATA_IDX_H

#include "runtime/data/Reader.h"

namespace dyn::data {

Expected<Extent> inspectIdx(const std::string &path);
Expected<std::unique_ptr<Reader>> openIdx(const std::string &path);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_IDX_H
