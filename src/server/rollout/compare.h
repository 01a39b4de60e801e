// Compares the outputs of two versions.
#pragma once
#include <string>

#include "server/core/message.h"
#include "server/rollout/policy.h"

namespace tern::server {

struct OutputTolerance {
  CompareMode mode = CompareMode::kValues;
  double absolute = 0, relative = 0;
};

// Returns an empty text if the outputs agree, or where they first differ: "output 'y', element 3: 1.5 and
// 2.5". Floats agree within absolute + relative * |expected|; NaN agrees with NaN. Other numbers must be
// equal. Texts must be equal but for the numbers in them, which agree within the same tolerance. With kTop1,
// the largest elements along the last dim of numeric outputs must have the same index, and their values do
// not matter. The order of the outputs does not matter.
std::string CompareOutputs(const Response& expected, const Response& actual,
                           const OutputTolerance& tolerance);

// Returns whether two texts agree.
bool TextsAgree(std::string_view expected, std::string_view actual, const OutputTolerance& tolerance);

}  // namespace tern::server
