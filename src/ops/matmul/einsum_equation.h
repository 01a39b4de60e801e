// The parsed equation of an Einsum.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

// Axes are named by letters; '*' represents the ellipsis: "b...ij" becomes "b*ij".
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

Result<EinsumEquation> ParseEinsum(const std::string& equation);

// The equation for operands of given ranks. Letters are represented by their character code, ellipsis axes by
// -1, -2, … from the last one.
struct EinsumLabels {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

Result<EinsumLabels> LabelAxes(const EinsumEquation& equation, const std::vector<int>& ranks);

}  // namespace tern
