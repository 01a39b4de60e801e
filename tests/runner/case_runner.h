#pragma once
#include <string>

#include "case_file.h"

namespace tern {

// Runs a case on the reference evaluator, and in sessions at every instruction set with 1 and 2 threads. Also
// stores the graph as text and as a .tern file. Both must load as the same graph. A kernel must run the node,
// unless the op has no kernels or the case has `by_reference`. A case with `fails` must instead fail when the
// graph is built, or both on the reference evaluator and in a session. Returns an empty string if all checks
// succeed, and otherwise a message.
std::string RunCase(const Case& c);

}  // namespace tern
