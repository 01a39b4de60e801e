// The equation of an Einsum, read.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

// Axes are named by letters; '*' stands for the ellipsis: "b...ij" reads "b*ij".
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

Result<EinsumEquation> ParseEinsum(const std::string& equation);

// The equation for operands of given ranks: letters as their character code, ellipsis axes as -1, -2, … from
// its last axis.
struct EinsumLabels {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

Result<EinsumLabels> LabelAxes(const EinsumEquation& equation, const std::vector<int>& ranks);

}  // namespace tern
