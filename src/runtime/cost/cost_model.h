// Provides the CPU's rates, with which the times of its kernels are estimated.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernel_api/work.h"

namespace tern {

// Returns the CPU's rates. Microseconds() uses the instruction set that is active when it is called.
const Rates& CpuRates();

// Returns the algorithm and the instruction set of each row of runtime/cost/cost_rates.inc.
std::vector<std::pair<std::string, std::string>> RatedAlgorithms();

// Returns the time of one multiply-add in the inner loop of direct convolution, with the active instruction
// set.
double CpuProductNanoseconds();

}  // namespace tern
