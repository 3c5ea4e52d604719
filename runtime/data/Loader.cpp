//===- Loader.cpp ---------------------------------------------------------===//
#include "runtime/data/Loader.h"

#include "runtime/Ending.h"
#include "runtime/Random.h"
#include "runtime/data/Reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace dyn::data {
namespace {

int64_t elementsOf(const plan::Field &field) {
  int64_t product = 1;
  for (int64_t size : field.shape)
    product *= size;
  return product;
}

/// Which rows of a source a set takes, and where they go.
struct Destination {
  const plan::Set *set;
  std::vector<int64_t> place; ///< by row of the source; -1: not in this set
};

} // namespace

class SourceLoader {
public:
  SourceLoader(const plan::Plan &plan, int64_t source, DynContext &ctx,
               const std::function<void(DynContext *)> &function)
      : plan(plan), source(plan.sources[static_cast<size_t>(source)]), ctx(ctx), function(function) {
    for (const plan::Set &set : plan.sets)
      if (set.source == source)
        destinations.push_back({&set, placesOf(set)});
  }

  Status run() {
    Status status = openInputs();
    for (int64_t lo = 0; status.isOk() && lo < source.rows; lo += source.chunk)
      status = loadChunk(lo, std::min(lo + source.chunk, source.rows));
    ctx.clock.rows_base = 0;
    return status;
  }

  /// The rows from `first` on, as many as the source holds at a time.
  Status makeRows(int64_t first) {
    Status status = loadChunk(first, first + source.rows);
    ctx.clock.rows_base = 0;
    return status;
  }

private:
  const plan::Plan &plan;
  const plan::Source &source;
  DynContext &ctx;
  const std::function<void(DynContext *)> &function;
  std::vector<Destination> destinations;
  std::vector<std::unique_ptr<Reader>> readers;

  std::vector<int64_t> placesOf(const plan::Set &set) const {
    std::vector<int64_t> place(static_cast<size_t>(source.rows), -1);
    Permutation order(mixKeys(set.splitSeed, hashSite("split")), source.rows);
    for (int64_t i = 0; i < set.rows; ++i) {
      int64_t position = set.first + i;
      place[static_cast<size_t>(set.permuted ? order(position) : position)] = i;
    }
    return place;
  }

  Status openInputs() {
    for (const plan::RawInput &input : source.inputs) {
      Expected<std::unique_ptr<Reader>> reader = open(source.format, input.file, {input.header, input.member});
      if (!reader)
        return reader.status();
      if ((*reader)->width() != input.width)
        return Status::error("`" + input.file + "` has rows of " + std::to_string((*reader)->width()) +
                             " numbers, the program was compiled for " + std::to_string(input.width) +
                             "; compile it again");
      readers.push_back(std::move(*reader));
    }
    return {};
  }

  Status loadChunk(int64_t lo, int64_t hi) {
    for (size_t i = 0; i < readers.size(); ++i) {
      const plan::RawInput &input = source.inputs[i];
      auto *raw = static_cast<double *>(ctx.arenas[input.arena]);
      Status status = readers[i]->read(lo, hi, raw);
      if (!status.isOk())
        return status;
      // Rows that are not there repeat the last one: whatever it can be computed from, they can.
      for (int64_t row = hi - lo; row < source.chunk; ++row)
        std::copy_n(raw + (hi - lo - 1) * input.width, input.width, raw + row * input.width);
    }
    ctx.clock.rows_base = lo;
    function(&ctx);
    if (ctx.status != DYN_OK)
      return functionFailed(lo, hi);
    for (size_t field = 0; field < source.fields.size(); ++field) {
      Status status = source.chunkArenas[field] < 0 ? Status() : loadField(field, lo, hi);
      if (!status.isOk())
        return status;
    }
    return {};
  }

  Status functionFailed(int64_t lo, int64_t hi) const {
    std::string what = "`" + source.name + "` (" + source.spec + "): ";
    if (ctx.status_site >= 0 && static_cast<size_t>(ctx.status_site) < plan.sites.size()) {
      const plan::Site &site = plan.sites[static_cast<size_t>(ctx.status_site)];
      what += "`" + site.what + "` (" + site.spec + ") ";
    }
    if (dividesByZero(plan, ctx))
      what += "divides a whole number by 0 and ";
    else if (ctx.status == DYN_BAD_INDEX)
      what += "index " + std::to_string(ctx.status_value) + " is not below " + std::to_string(ctx.status_bound) + " ";
    return Status::error(what + "failed for a row from " + place(lo) + " to " + place(hi - 1));
  }

  std::string place(int64_t row) const {
    return readers.empty() ? "`" + source.name + "`, row " + std::to_string(row) : readers[0]->place(row);
  }

  Status loadField(size_t number, int64_t lo, int64_t hi) {
    const plan::Field &field = source.fields[number];
    const void *values = ctx.arenas[source.chunkArenas[number]];
    int64_t width = elementsOf(field);
    Status status = check(field, values, (hi - lo) * width, width, lo);
    int64_t rowBytes = width * plan::sizeOf(field.element);
    for (const Destination &destination : destinations) {
      int64_t arena = destination.set->fieldArenas[number];
      if (!status.isOk() || arena < 0)
        continue;
      for (int64_t row = lo; row < hi; ++row) {
        int64_t place = destination.place[static_cast<size_t>(row % source.rows)];
        if (place >= 0)
          std::memcpy(static_cast<char *>(ctx.arenas[arena]) + place * rowBytes,
                      static_cast<const char *>(values) + (row - lo) * rowBytes, static_cast<size_t>(rowBytes));
      }
    }
    return status;
  }

  template <typename T> static int64_t firstNotFinite(const void *values, int64_t count) {
    const T *numbers = static_cast<const T *>(values);
    return std::find_if(numbers, numbers + count, [](T x) { return !std::isfinite(x); }) - numbers;
  }

  Status check(const plan::Field &field, const void *values, int64_t count, int64_t width, int64_t lo) const {
    auto where = [&](int64_t at) { return place(lo + at / width) + ": field `" + field.name + "` is "; };
    if (field.element == plan::Element::f32 || field.element == plan::Element::f64) {
      int64_t at = field.element == plan::Element::f32 ? firstNotFinite<float>(values, count)
                                                       : firstNotFinite<double>(values, count);
      if (at < count)
        return Status::error(where(at) + "not finite; mend the row or leave it out");
    } else if (field.element == plan::Element::i64) {
      const auto *labels = static_cast<const int64_t *>(values);
      if (int64_t at = std::find(labels, labels + count, plan::notWhole) - labels; at < count)
        return Status::error(where(at) + "no whole number; mend the row, or declare the field `real`");
      if (field.classes <= 0)
        return Status();
      for (int64_t at = 0; at < count; ++at)
        if (labels[at] < 0 || labels[at] >= field.classes)
          return Status::error(where(at) + std::to_string(labels[at]) + ", expected a class from 0 to " +
                               std::to_string(field.classes - 1) + "; declare more classes or mend the row");
    }
    return {};
  }
};

Status load(const plan::Plan &plan, int64_t source, DynContext &ctx,
            const std::function<void(DynContext *)> &function) {
  return SourceLoader(plan, source, ctx, function).run();
}

RowMaker::RowMaker(const plan::Plan &plan, int64_t source, DynContext &ctx, std::function<void(DynContext *)> made)
    : function(std::make_unique<std::function<void(DynContext *)>>(std::move(made))),
      loader(std::make_unique<SourceLoader>(plan, source, ctx, *function)) {}
RowMaker::~RowMaker() = default;
RowMaker::RowMaker(RowMaker &&) noexcept = default;

Status RowMaker::make(int64_t first) { return loader->makeRows(first); }

} // namespace dyn::data
