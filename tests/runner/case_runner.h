#pragma once
#include <string>

#include "case_file.h"

namespace tern {

// Runs a case on the reference evaluator and in sessions at every instruction set, with 1 and 2 threads;
// directly and after a round trip through the text form and through a .tern file. Empty when all match the
// expectation, and when kernels ran wherever the op has kernels (or as `by_reference` states).
std::string RunCase(const Case& c);

}  // namespace tern
