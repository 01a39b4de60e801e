// The parsed equation of an Einsum.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

// A term names the axes of an operand by letters, and the ellipsis by '*': "b...ij" becomes "b*ij".
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

Result<EinsumEquation> ParseEinsum(const std::string& equation);

// The labels of each operand's axes, for given ranks. The label of a letter is its character code. The labels
// of ellipsis axes are negative, and the last ellipsis axis has label -1.
struct EinsumLabels {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

Result<EinsumLabels> LabelAxes(const EinsumEquation& equation, const std::vector<int>& ranks);

}  // namespace tern
