#pragma once
#include <string>

#include "case_file.h"

namespace tern {

// Runs a case on the reference evaluator and in sessions with 1 and 2 threads; directly and after a round
// trip through the text form and through a .tern file. Empty when all match the expectation.
std::string RunCase(const Case& c);

}  // namespace tern
