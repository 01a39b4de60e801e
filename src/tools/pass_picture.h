// Draws rewrites for the documentation as Mermaid diagrams, which GitHub renders.
#pragma once
#include <string>

#include "passes/rewrite/rule.h"

namespace tern::tools {

// Returns a diagram with the graph before and after the rule, side by side. A rule in text is drawn as its
// first pattern and its replacement. A rule in code is drawn as its example before and after the rule.
// Fails if the example fails. The text ends with a newline.
Result<std::string> RulePicture(const Rule& rule);

}  // namespace tern::tools
