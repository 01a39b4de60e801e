// Generates docs/reference/passes.md from the rules and passes.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::tools {

// Fails if a rule's example fails, or if the list of capabilities names a rule that does not exist.
Result<std::string> PassesMarkdown();

}  // namespace tern::tools
