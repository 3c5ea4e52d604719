//===- Linker.h - the system's linker, and what it is given -----*- C++ -*-===//

#pragma once

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace dyn {

/// A library of the runtime by its name ("dyn_runtime"): in ../lib of the folder of this program, where both the build
/// tree and an installation have it.
Expected<std::string> runtimeLibrary(const std::string &name);

/// Links with the C compiler's driver: what the variable CC names, else the first of cc, clang and gcc.
/// Whether an object file calls a routine that LAPACK does.
bool needsLapack(const std::string &object);
Status link(const std::vector<std::string> &arguments);

/// Writes a file whole.
Status writeFile(const std::string &path, const std::string &content);

} // namespace dyn
