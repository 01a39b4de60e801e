// Draws rewrites for the documentation as Mermaid diagrams, which GitHub renders.
#pragma once
#include <string>

#include "passes/rewrite/rule.h"

namespace tern::tools {

// Draws before and after, side by side. A rule with patterns shows its first pattern and its replacement. A
// rule in code shows its example. The text ends with a newline. Fails if the example of a rule in code fails.
Result<std::string> RulePicture(const Rule& rule);

}  // namespace tern::tools
