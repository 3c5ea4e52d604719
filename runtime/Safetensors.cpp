//===- Safetensors.cpp ----------------------------------------------------===//
#include "runtime/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dyn {
namespace {

using Json = nlohmann::ordered_json;

const char *nameOf(plan::Element element) {
  switch (element) {
  case plan::Element::f32:
    return "F32";
  case plan::Element::f64:
    return "F64";
  case plan::Element::i64:
    return "I64";
  case plan::Element::i1:
    break;
  }
  return "BOOL";
}

bool elementOf(const std::string &name, plan::Element &element) {
  for (plan::Element one : {plan::Element::f32, plan::Element::f64, plan::Element::i64, plan::Element::i1})
    if (name == nameOf(one)) {
      element = one;
      return true;
    }
  return false;
}

int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

Status cannotWrite(const std::string &path) {
  return Status::error("cannot write `" + path + "`: " + std::strerror(errno));
}

bool writeAll(int descriptor, const void *data, size_t bytes) {
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t wrote = ::write(descriptor, from, std::min(bytes, size_t(1) << 30));
    if (wrote < 0 && errno != EINTR)
      return false;
    if (wrote > 0) {
      from += wrote;
      bytes -= size_t(wrote);
    }
  }
  return true;
}

std::string headerOf(const std::vector<TensorView> &tensors) {
  Json header = Json::object();
  int64_t offset = 0;
  for (const TensorView &tensor : tensors) {
    int64_t end = offset + countOf(tensor.shape) * plan::sizeOf(tensor.element);
    header[tensor.name] = {{"dtype", nameOf(tensor.element)}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // so that the data is aligned
  return text;
}

/// Reads one entry of the header; false when it does not fit the format or the file.
bool readEntry(const Json &entry, const std::string &data, Tensor &tensor) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
    return false;
  const Json &offsets = entry["data_offsets"], &shape = entry["shape"];
  if (!entry["dtype"].is_string() || !elementOf(entry["dtype"].get<std::string>(), tensor.element))
    return false;
  if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    return false;
  __int128 bytes = plan::sizeOf(tensor.element);
  for (const Json &size : shape) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > data.size() + 1)
      return false;
    tensor.shape.push_back(int64_t(size.get<uint64_t>()));
    bytes *= tensor.shape.back();
    if (bytes > __int128(data.size()))
      return false;
  }
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return false;
  uint64_t lo = offsets[0].get<uint64_t>(), hi = offsets[1].get<uint64_t>();
  if (lo > hi || hi > data.size() || __int128(hi - lo) != bytes)
    return false;
  tensor.bytes.assign(data.begin() + int64_t(lo), data.begin() + int64_t(hi));
  return true;
}

} // namespace

Status writeSafetensors(const std::string &path, const std::vector<TensorView> &tensors) {
  std::string beside = path + ".part", header = headerOf(tensors);
  int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return cannotWrite(beside);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(header.size() >> 8 * i);
  bool good = writeAll(descriptor, length, 8) && writeAll(descriptor, header.data(), header.size());
  for (const TensorView &tensor : tensors)
    good = good && writeAll(descriptor, tensor.data, size_t(countOf(tensor.shape) * plan::sizeOf(tensor.element)));
  // On disk before it gets its name: a crash leaves the old file or the new one.
  good = good && fsync(descriptor) == 0;
  Status status = good ? Status() : cannotWrite(path);
  if (::close(descriptor) != 0 && status.isOk())
    status = cannotWrite(path);
  if (status.isOk() && std::rename(beside.c_str(), path.c_str()) != 0)
    status = cannotWrite(path);
  if (!status.isOk())
    ::unlink(beside.c_str());
  return status;
}

Expected<std::map<std::string, Tensor>> readSafetensors(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status::error("cannot read `" + path + "`: " + std::strerror(errno));
  std::string all((std::istreambuf_iterator<char>(file)), {});
  uint64_t length = 0;
  for (size_t i = 0; i < 8 && all.size() >= 8; ++i)
    length |= uint64_t(uint8_t(all[i])) << 8 * i;
  Status wrong = Status::error("`" + path + "` is not a whole safetensors file");
  if (all.size() < 8 || length > all.size() - 8)
    return wrong;
  Json header = Json::parse(all.substr(8, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return wrong;
  std::string data = all.substr(8 + length);
  std::map<std::string, Tensor> tensors;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    if (!readEntry(entry, data, tensors[name]))
      return Status::error("`" + path + "`: the entry of `" + name + "` is damaged or of an unknown type");
  }
  return tensors;
}

} // namespace dyn
