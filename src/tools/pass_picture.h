// Pictures of rewrites for the documentation, in Mermaid's language, which GitHub draws.
#pragma once
#include <string>

#include "passes/rewrite/rule.h"

namespace tern::tools {

// Before and after side by side: of a rule in text its first spelling and its replacement, of one in code its
// example. Ends with a newline. An error when the example of a rule in code does not work.
Result<std::string> RulePicture(const Rule& rule);

}  // namespace tern::tools
