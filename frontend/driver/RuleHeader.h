//===- RuleHeader.h - the C header of a rule's library ----------*- C++ -*-===//

#pragma once

#include "frontend/driver/RuleCode.h"

namespace dyn {

/// C99 that C++ accepts as well.
std::string ruleHeader(const RuleCode &code);

} // namespace dyn
