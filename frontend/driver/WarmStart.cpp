#include "frontend/driver/WarmStart.h"

#include "frontend/driver/Runner.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>

namespace dyn {

using Json = nlohmann::json;

static std::optional<std::string> textOf(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt; // what comes through a pipe can be read once
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return std::nullopt;
  return text.str();
}

/// Size and time of change of a data file, which is too long to be read twice.
static Json stampOf(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return nullptr;
  return {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

WarmStart::WarmStart(ObjectCache &cache, const RunOptions &options, const Target &target)
    : cache(cache), path(options.file), text(textOf(options.file)) {
  if (!text)
    return;
  std::error_code error;
  // Paths of data are relative to the working folder, and messages show the spec's as it was given.
  Json parts = {"start",  target.text(), std::filesystem::current_path(error).string(), path, options.name,
                options.sets, options.checkBounds};
  if (options.seed)
    parts.push_back(*options.seed);
  key = cacheKeyOf(parts.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + *text);
}

/// Whether the files of an entry hold what they held when it was made. `text`: its first line.
bool WarmStart::isCurrent(const std::string &text) {
  Json made = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!made.is_object() || !made.contains("files") || !made.contains("data"))
    return false;
  for (auto &[file, hash] : made["files"].items()) {
    auto now = textOf(file);
    if (!now || Json(cacheKeyOf(*now).hex()) != hash)
      return false;
    texts[file] = std::move(*now);
  }
  for (auto &[file, stamp] : made["data"].items())
    if (stamp.is_null() || stampOf(file) != stamp)
      return false;
  return true;
}

std::optional<Program> WarmStart::load() {
  auto entry = text ? cache.load(key) : std::nullopt;
  if (!entry)
    return std::nullopt;
  // One line of what it was made from, then the plan.
  size_t line = entry->planJson.find('\n');
  if (line == std::string::npos || !isCurrent(entry->planJson.substr(0, line)))
    return std::nullopt;
  Program program{{}, std::move(entry->object), true};
  std::string why;
  if (!plan::fromJson(entry->planJson.substr(line + 1), program.plan, why))
    return std::nullopt;
  return program;
}

void WarmStart::store(const Program &program, const std::vector<std::pair<std::string, std::string>> &files) {
  Json made = {{"files", Json::object()}, {"data", Json::object()}};
  for (auto &[file, content] : files) {
    if (file == path && content != text)
      return; // edited between the two readings: the key is that of another text
    made["files"][file] = cacheKeyOf(content).hex();
  }
  for (const plan::Source &source : program.plan.sources)
    for (const plan::RawInput &input : source.inputs)
      made["data"][input.file] = stampOf(input.file);
  cache.store(key, {made.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + plan::toJson(program.plan), program.object});
}

} // namespace dyn
