// Stores the weights of a model in 16 bits.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace tern::compress {

struct HalfReport {
  int64_t converted = 0;  // number of constants
  // Constants that stay f32, with the node that reads them and the reason.
  struct Kept {
    std::string constant, node, why;
  };
  std::vector<Kept> kept;
};

// Replaces f32 constants of the top-level graph with at least 16 elements by constants of type `to` (f16 or
// bf16) and a Cast to f32. A constant stays f32 if an element is not finite or would overflow to infinity, or
// if its signal-to-noise ratio after rounding would be below 40 dB, as in f16 if most elements are below
// 1e-6. Overridable constants and constants that are outputs are not changed.
Result<HalfReport> StoreWeightsAsHalf(Graph& graph, DType to);

}  // namespace tern::compress
