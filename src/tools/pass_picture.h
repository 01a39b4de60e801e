// Draws rewrites for the documentation as Mermaid diagrams, which GitHub renders.
#pragma once
#include <string>

#include "passes/rewrite/rule.h"

namespace tern::tools {

// Before and after, side by side. A rule with patterns shows its first pattern and its replacement, a rule in
// code its example. Ends with a newline. An error if the example of a rule in code fails.
Result<std::string> RulePicture(const Rule& rule);

}  // namespace tern::tools
