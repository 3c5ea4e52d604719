//===- Reader.h - rows of numbers from a file -----------------------------===//
//
// One source per file beside this: Csv, Idx, Npy, Npz, Text. Rows count from 0 here and in
// plans; messages count rows and columns of a file from 1 where the file is
// text (as editors do), and say so.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DATA_READER_H
#define DYN_RUNTIME_DATA_READER_H

#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dyn::data {

/// What the numbers of a file are; csv and idx files have reals.
enum class Content { real, whole, truth };

/// What a file holds: `rows` times an array of `shape`; csv: shape = [columns].
struct Extent {
  int64_t rows = 0;
  std::vector<int64_t> shape;
  Content content = Content::real;
  /// Numbers a row.
  int64_t width() const {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
};

struct ReadOptions {
  bool header = false; ///< csv: the first line names the columns
  std::string member;  ///< npz: which array
};

/// Rows of one open file.
class Reader {
public:
  virtual ~Reader() = default;
  /// Numbers a row.
  virtual int64_t width() const = 0;
  /// Reads rows [lo, hi) into out, (hi - lo) * width doubles. Reading on from the last hi is fast;
  /// going back starts the file again. Fails when the file has fewer rows.
  virtual Status read(int64_t lo, int64_t hi, double *out) = 0;
  /// Where row `row` stands, for messages: "digits.csv.gz:18" for text, "images.idx, row 17".
  virtual std::string place(int64_t row) const = 0;
};

/// Rows and shape of a file, cheaply: idx, npy and npz read headers; csv counts lines and looks at the first row.
/// format: "csv", "idx", "npy", "npz" or "text"; gzip is found by its first bytes.
Expected<Extent> inspect(const std::string &format, const std::string &path, const ReadOptions &options = {});

/// Opens for reading and looks at the first row or the header; does not count the rows of a csv.
Expected<std::unique_ptr<Reader>> open(const std::string &format, const std::string &path,
                                       const ReadOptions &options = {});

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_READER_H
