// Weight-only and dynamic quantization. Replaces the MatMuls of a graph that have constant weights by
// MatMulNBits, whose weights have 4 or 8 bits.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compress/quantize/observe.h"
#include "compress/weights/block_matrix.h"
#include "ir/graph.h"

namespace tern::compress {

enum class WeightMethod { kNearest, kGptq, kAwq, kAdaRound };
const std::vector<std::string>& WeightMethodNames();  // in the order of the enumerators
std::optional<WeightMethod> ParseWeightMethod(std::string_view name);

struct WeightOnlyOptions {
  BlockFormat format;
  bool dynamic = false;  // activations are quantized to 8 bits at run time, with one scale per row
  WeightMethod method = WeightMethod::kNearest;
  std::vector<std::string> keep;  // names of nodes that stay float
  int threads = 0;                // 0 means one per core
};

struct WeightOnlyLayer {
  std::string node;
  int64_t inputs = 0, outputs = 0;
  // Signal-to-noise ratio of the layer's result on the calibration data, in dB. Without calibration data,
  // this is the ratio of the weights.
  double sqnr = 0;
};

struct WeightOnlyReport {
  std::vector<WeightOnlyLayer> layers;
  int64_t bytes_before = 0, bytes_after = 0;  // of the weights of these layers
};

// Optimizes the graph, then quantizes all MatMuls whose right operand is a constant f32 matrix with at least
// 32 inputs, 8 outputs and 4096 elements. Does not quantize MatMuls with an alpha or a transposed left
// operand. `samples` may be null; all methods but kNearest need them. Fails if there is no such MatMul, if a
// node of `keep` is not in the top-level graph, or if samples are needed and missing, of the wrong shape, or
// not finite. With samples, also fails if a nested graph contains such a MatMul.
Result<WeightOnlyReport> QuantizeWeights(Graph& graph, const WeightOnlyOptions& options,
                                         Samples* samples = nullptr, const ShowProgress& show = {});

}  // namespace tern::compress
