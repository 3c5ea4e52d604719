//===- Reader.cpp - formats by name ---------------------------------------===//
#include "runtime/data/Reader.h"

#include "runtime/data/Csv.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Npz.h"
#include "runtime/data/Text.h"

namespace dyn::data {
namespace {

struct Format {
  const char *name;
  Expected<Extent> (*inspect)(const std::string &path, const ReadOptions &options);
  Expected<std::unique_ptr<Reader>> (*open)(const std::string &path, const ReadOptions &options);
};

/// Of formats that have no options.
template <Expected<Extent> (*function)(const std::string &)>
Expected<Extent> inspectPlain(const std::string &path, const ReadOptions &) {
  return function(path);
}
template <Expected<std::unique_ptr<Reader>> (*function)(const std::string &)>
Expected<std::unique_ptr<Reader>> openPlain(const std::string &path, const ReadOptions &) {
  return function(path);
}

constexpr Format formats[] = {
    {"csv", inspectCsv, openCsv},
    {"idx", inspectPlain<inspectIdx>, openPlain<openIdx>},
    {"npy", inspectPlain<inspectNpy>, openPlain<openNpy>},
    {"npz", inspectNpz, openNpz},
    {"text", inspectPlain<inspectText>, openPlain<openText>},
};

const Format *find(const std::string &name) {
  for (const Format &format : formats)
    if (name == format.name)
      return &format;
  return nullptr;
}

Status unknownFormat(const std::string &name) {
  std::string list;
  for (const Format &format : formats)
    list += (list.empty() ? "`" : ", `") + std::string(format.name) + "`";
  return Status::error("there is no reader for `" + name + "`; there are " + list);
}

} // namespace

Expected<Extent> inspect(const std::string &format, const std::string &path, const ReadOptions &options) {
  const Format *found = find(format);
  return found ? found->inspect(path, options) : unknownFormat(format);
}

Expected<std::unique_ptr<Reader>> open(const std::string &format, const std::string &path,
                                       const ReadOptions &options) {
  const Format *found = find(format);
  return found ? found->open(path, options) : unknownFormat(format);
}

} // namespace dyn::data
