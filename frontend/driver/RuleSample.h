//===- RuleSample.h - a rule as a train of its own --------------*- C++ -*-===//

#pragma once

#include "frontend/Library.h"

#include <optional>
#include <string>
#include <vector>

namespace dyn {

/// `--rule` of a library, read: 'adamw', 'adamw(lr=0.1)', 'adamw on [64, 32] [32]'.
struct RuleRequest {
  std::string name;
  /// A parameter of the rule: one that is a number becomes a hyperparameter in C.
  struct Parameter {
    std::string name, type, value;
    bool number = false;
  };
  std::vector<Parameter> parameters; ///< those with a value
  std::vector<std::string> shapes;   ///< of the leaves; none: any number of elements
};

/// Nothing after a report.
std::optional<RuleRequest> readRuleRequest(const std::string &text, const Library &library, SourceManager &sources,
                                           DiagnosticEngine &diags);

/// A train whose optimizer is the rule: on leaves of its shapes, or on one of `count` elements.
std::string sampleOfRule(const RuleRequest &rule, int64_t count, const std::string &precision);

} // namespace dyn
