#pragma once
#include <string>

#include "case_file.h"

namespace tern {

// Runs a case on the reference evaluator and on sessions with 1 and 2 threads, as it is and after a round
// trip through the text form and through a .tern file. Empty when all agree with what is expected.
std::string RunCase(const Case& c);

}  // namespace tern
