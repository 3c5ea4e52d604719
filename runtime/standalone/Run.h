//===- Run.h - the train of an executable, with its options ---------------===//
#ifndef DYN_RUNTIME_STANDALONE_RUN_H
#define DYN_RUNTIME_STANDALONE_RUN_H

#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/standalone/Manifest.h"

#include <cstdint>
#include <optional>

namespace dyn::standalone {

struct Options {
  std::vector<std::string> sets; ///< NAME=VALUE
  std::optional<uint64_t> seed;
  std::string out, data;
  int threads = 0;
  bool quiet = false;
};

/// Hyperparameters by name and value, those that `sets` do not name at their defaults.
struct Settings {
  std::vector<std::string> names;
  std::vector<double> values;
};

/// Refuses what is no hyperparameter, no number, or built in.
Expected<Settings> settingsOf(const Manifest &manifest, const std::vector<std::string> &sets);
/// Puts settings into the numbers of a plan that have formulas.
void apply(const Settings &settings, plan::Plan &plan);
/// Where a data file is when the spec's folder is at `root`: files under that folder keep their way from there, others
/// only their name.
std::string rerooted(const std::string &file, const std::string &specFolder, const std::string &root);

/// Runs the program; the exit status.
int run(const DynProgram &program, const Options &options);

} // namespace dyn::standalone
#endif // DYN_RUNTIME_STANDALONE_RUN_H
