// docs/reference/passes.md, from the rules and passes themselves.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::tools {

// An error when a rule's example does not work, or when the list of capabilities names a rule that is not
// there.
Result<std::string> PassesMarkdown();

}  // namespace tern::tools
