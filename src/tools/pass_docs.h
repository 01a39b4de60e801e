// Generates docs/reference/passes.md from the rules and passes.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::tools {

// Returns the page. Fails if a rule's example fails, or if pass_capabilities.inc names a rule or pass that
// does not exist.
Result<std::string> PassesMarkdown();

}  // namespace tern::tools
