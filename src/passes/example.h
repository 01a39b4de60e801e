// Runs a rule on its own example graph.
#pragma once
#include <memory>

#include "passes/rewrite/rule.h"

namespace tern {

struct RuleExample {
  std::unique_ptr<Graph> before, after;
};

// The rule must be written in code (Rule::apply is set). Fails if the rule has no example, does not fire on
// its example, or fires without end.
Result<RuleExample> RunExample(const Rule& rule);

}  // namespace tern
