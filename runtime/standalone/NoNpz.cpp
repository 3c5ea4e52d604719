//===- NoNpz.cpp - for executables that read no npz -----------------------===//
//
// Linked before the runtime, it takes the place of data/Npz.cpp: an executable
// then needs no libzip on the machine that it runs on.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Npz.h"

namespace dyn::data {

static Status absent() { return Status::error("npz files are not read by this program; build it again"); }

Expected<std::vector<std::string>> npzMembers(const std::string &) { return absent(); }
Expected<Extent> inspectNpz(const std::string &, const ReadOptions &) { return absent(); }
Expected<std::unique_ptr<Reader>> openNpz(const std::string &, const ReadOptions &) { return absent(); }

} // namespace dyn::data
