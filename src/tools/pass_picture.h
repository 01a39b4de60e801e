// Draws rewrites for the documentation as Mermaid diagrams, which GitHub renders.
#pragma once
#include <string>

#include "passes/rewrite/rule.h"

namespace tern::tools {

// Returns a diagram with the graph before and after the rule, side by side. For a rule with patterns, these
// are its first pattern and its replacement. For a rule in code, these are the graphs of its example; fails
// if the example fails. The text ends with a newline.
Result<std::string> RulePicture(const Rule& rule);

}  // namespace tern::tools
