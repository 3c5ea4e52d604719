//===- Text.h - the bytes of a text, plain or gzip ------------------------===//
//
// A row is one byte, 0 to 255, whatever the encoding: UTF-8 is read as it is
// stored. Windows over the rows are gathered batch by batch (plan::Set) and
// never stored.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DATA_TEXT_H
#define DYN_RUNTIME_DATA_TEXT_H

#include "runtime/data/Reader.h"

namespace dyn::data {

/// Counts the bytes; unpacks a gzip file for that.
Expected<Extent> inspectText(const std::string &path);
Expected<std::unique_ptr<Reader>> openText(const std::string &path);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_TEXT_H
