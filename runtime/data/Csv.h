//===- Csv.h - comma-separated numbers, plain or gzip ---------------------===//
//
// One row a line, numbers separated by commas (blanks around them allowed),
// the same number of columns in each. Blank lines at the end are ignored. No
// line names columns unless ReadOptions::header says so.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DATA_CSV_H
#define DYN_RUNTIME_DATA_CSV_H

#include "runtime/data/Reader.h"

namespace dyn::data {

Expected<Extent> inspectCsv(const std::string &path, const ReadOptions &options);
Expected<std::unique_ptr<Reader>> openCsv(const std::string &path, const ReadOptions &options);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_CSV_H
