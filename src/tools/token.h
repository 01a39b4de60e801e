// The token that clients of a server with access control send.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::tools {

// Returns `given`, or the value of TERN_TOKEN if it is empty. Fails for a text that cannot be sent.
Result<std::string> TokenOr(const std::string& given);

}  // namespace tern::tools
