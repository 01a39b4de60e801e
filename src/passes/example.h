// Runs a rule on its own example graph.
#pragma once
#include <memory>

#include "passes/rewrite/rule.h"

namespace tern {

struct RuleExample {
  std::unique_ptr<Graph> before, after;
};

// For rules in code. Fails if there is no example, or if the rule does not fire on it.
Result<RuleExample> RunExample(const Rule& rule);

}  // namespace tern
