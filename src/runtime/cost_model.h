// The rates that estimates are made with.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tern {

// Algorithm and instruction set of each line of runtime/cost_rates.inc.
std::vector<std::pair<std::string, std::string>> RatedAlgorithms();

// What the inner loop of products takes for one, with the instruction set that is active.
double ProductNanoseconds();

}  // namespace tern
