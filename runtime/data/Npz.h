//===- Npz.h - arrays by name: a zip archive of .npy files ----------------===//
#ifndef DYN_RUNTIME_DATA_NPZ_H
#define DYN_RUNTIME_DATA_NPZ_H

#include "runtime/data/Reader.h"

namespace dyn::data {

/// Names of the arrays, without ".npy", in the archive's order; other members are no arrays and left out.
Expected<std::vector<std::string>> npzMembers(const std::string &path);
/// `options.member` names the array.
Expected<Extent> inspectNpz(const std::string &path, const ReadOptions &options);
Expected<std::unique_ptr<Reader>> openNpz(const std::string &path, const ReadOptions &options);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_NPZ_H
