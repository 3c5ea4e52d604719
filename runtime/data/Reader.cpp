//===- Reader.cpp - formats by name ---------------------------------------===//
#include "runtime/data/Reader.h"

#include "runtime/data/Csv.h"
#include "runtime/data/Idx.h"

namespace dyn::data {

static Status unknownFormat(const std::string &format) {
  return Status::error("there is no reader for `" + format + "`; there are `csv` and `idx`");
}

Expected<Extent> inspect(const std::string &format, const std::string &path, const ReadOptions &options) {
  if (format == "csv")
    return inspectCsv(path, options);
  if (format == "idx")
    return inspectIdx(path);
  return unknownFormat(format);
}

Expected<std::unique_ptr<Reader>> open(const std::string &format, const std::string &path,
                                       const ReadOptions &options) {
  if (format == "csv")
    return openCsv(path, options);
  if (format == "idx")
    return openIdx(path);
  return unknownFormat(format);
}

} // namespace dyn::data
