// Weight-only and dynamic quantization: replaces the products of a graph by constant matrices by products by
// weights of 4 or 8 bits (MatMulNBits).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compress/weights/block_matrix.h"
#include "core/datum.h"
#include "ir/graph.h"

namespace tern::compress {

enum class WeightMethod { kNearest, kGptq, kAwq };

struct WeightOnlyOptions {
  BlockFormat format;
  bool dynamic = false;  // the rows of the left operand are rounded to 8 bits in every run
  WeightMethod method = WeightMethod::kNearest;
  std::vector<std::string> keep;  // names of nodes that stay float
  int threads = 0;                // 0 means one per core
};

// Calibration data. `get` returns one datum per input of the graph.
struct CalibrationData {
  size_t count = 0;
  std::function<Result<DatumList>(size_t i)> get;
};

struct WeightOnlyLayer {
  std::string node;
  int64_t inputs = 0, outputs = 0;
  // Signal-to-noise ratio of the layer's result on the calibration data, in dB. Without data: of the weights.
  double sqnr = 0;
};

struct WeightOnlyReport {
  std::vector<WeightOnlyLayer> layers;
  int64_t bytes_before = 0, bytes_after = 0;  // of the weights of these layers
};

// Optimizes the graph, then quantizes all products by constant matrices with at least 32 inputs, 8 outputs
// and 4096 elements. GPTQ and AWQ need data. Fails if there is no such product, or if data is needed and
// missing, of the wrong shape, or not finite.
Result<WeightOnlyReport> QuantizeWeights(Graph& graph, const WeightOnlyOptions& options,
                                         const CalibrationData& data = {});

}  // namespace tern::compress
