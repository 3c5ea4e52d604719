//===- SweepIndex.h - what a sweep leaves in its folder ---------*- C++ -*-===//

#pragma once

#include "frontend/elaborate/ExpectEvaluator.h"
#include "runtime/Session.h"

#include <nlohmann/json.hpp>
#include <set>

namespace dyn {

/// Folders of members, each its own: `OUT/s/width=64,seed=0`.
class MemberFolders {
public:
  /// `out` empty: there are none.
  MemberFolders(const std::string &out, const std::string &sweep) : folder(out.empty() ? "" : out + "/" + sweep) {}
  /// Of the member that runs as `s/width=64,seed=0`. What no file name may hold becomes `_`.
  std::string of(const std::string &runName);
  const std::string &path() const { return folder; }

private:
  std::string folder;
  std::set<std::string> taken;
};

/// `sweep.json`: axes with their labels; of each member that ran its labels, folder, outcome and last metrics.
class SweepIndex {
public:
  explicit SweepIndex(const elab::SweepRequest &request);
  void add(size_t member, const std::string &folder, const Outcome &outcome, const elab::RunResult &result);
  /// Members that ran to their end or diverged.
  size_t finished() const { return ended; }
  /// Writes nothing when there is no folder.
  Status write(const std::string &folder) const;

private:
  const elab::SweepRequest &request;
  nlohmann::ordered_json index;
  size_t ended = 0;
};

} // namespace dyn
