//===- Manifest.cpp -------------------------------------------------------===//
#include "runtime/standalone/Manifest.h"

#include <nlohmann/json.hpp>

namespace dyn::standalone {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hyperparameter, name, value, whole, fixed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuiltIn, name, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Claim, text, formula)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Manifest, specFolder, cpu, hyperparameters, builtIn, claims)

std::string toJson(const Manifest &manifest) {
  return nlohmann::json(manifest).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Manifest manifestFromJson(const std::string &text) { return nlohmann::json::parse(text).get<Manifest>(); }

} // namespace dyn::standalone
