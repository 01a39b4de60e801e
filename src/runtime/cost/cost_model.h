// The CPU's rates, which estimates of its kernels are made with.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernel_api/work.h"
#include "runtime/cost/cost_model.h"

namespace tern {

// For the instruction set that is active when they are asked.
const Rates& CpuRates();

// Algorithm and instruction set of each line of runtime/cost/cost_rates.inc.
std::vector<std::pair<std::string, std::string>> RatedAlgorithms();

// What the inner loop of products takes for one, with the instruction set that is active.
double CpuProductNanoseconds();

}  // namespace tern
