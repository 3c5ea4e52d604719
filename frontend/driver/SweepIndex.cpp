//===- SweepIndex.cpp - what a sweep leaves in its folder -----------------===//
#include "frontend/driver/SweepIndex.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dyn {

using Json = nlohmann::ordered_json;

std::string MemberFolders::of(const std::string &runName) {
  if (folder.empty())
    return "";
  constexpr size_t longest = 160; // of 255 bytes that a file name may have
  std::string name = runName.substr(runName.find('/') + 1);
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("=,._+-()", c))
      c = '_';
  name.resize(std::min(name.size(), longest));
  std::string unique = name;
  for (int n = 2; !taken.insert(unique).second; ++n)
    unique = name + "_" + std::to_string(n);
  return folder + "/" + unique;
}

static Json labelOf(const elab::Axis &axis, int64_t position) {
  if (!axis.words.empty())
    return axis.words[static_cast<size_t>(position)];
  double number = axis.labels[static_cast<size_t>(position)];
  bool isWhole = std::floor(number) == number && std::abs(number) < 0x1p53;
  return isWhole ? Json(static_cast<int64_t>(number)) : Json(number);
}

SweepIndex::SweepIndex(const elab::SweepRequest &request) : request(request) {
  index["sweep"] = request.name;
  index["train"] = request.members.front().decl->name.text;
  index["axes"] = Json::array();
  for (const elab::Axis &axis : request.axes) {
    Json labels = Json::array();
    for (int64_t i = 0; i < axis.size(); ++i)
      labels.push_back(labelOf(axis, i));
    index["axes"].push_back({{"name", axis.name}, {"labels", labels}});
  }
  index["members"] = Json::array();
}

void SweepIndex::add(size_t member, const std::string &folder, const Outcome &outcome, const elab::RunResult &result) {
  Json entry;
  Json labels;
  size_t rest = request.members.size();
  for (const elab::Axis &axis : request.axes) {
    rest /= static_cast<size_t>(axis.size());
    labels[axis.name] = labelOf(axis, static_cast<int64_t>(member / rest) % axis.size());
  }
  entry["labels"] = labels;
  entry["folder"] = std::filesystem::path(folder).filename().string();
  bool isOver = outcome.status == DYN_OK || outcome.status == DYN_NOT_FINITE;
  ended += isOver;
  entry["outcome"] = outcome.status == DYN_OK            ? "finished"
                     : outcome.status == DYN_NOT_FINITE  ? "diverged"
                     : outcome.status == DYN_INTERRUPTED ? "interrupted"
                                                         : "failed";
  entry["steps"] = outcome.step;
  Json metrics = Json::object();
  for (auto &[name, series] : result.series)
    if (series->shape.empty() && series->axes.size() == 1 && !series->values.empty())
      metrics[name] = series->values.back(); // null where it is not finite: JSON has no such numbers
  entry["last"] = metrics;
  index["members"].push_back(entry);
}

Status SweepIndex::write(const std::string &folder) const {
  if (folder.empty())
    return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string path = folder + "/sweep.json";
  std::ofstream file(path);
  file << index.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  return file.flush() ? Status() : Status::error("cannot write `" + path + "`: " + std::strerror(errno));
}

} // namespace dyn
