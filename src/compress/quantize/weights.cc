#include "compress/quantize/weights.h"

#include <algorithm>
#include <cmath>

#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

constexpr float kHighest = 127;
constexpr double kLargestBias = 1 << 30;
constexpr float kLeastScale = 1e-12F;

float LargestOf(const float* values, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

double NoiseOf(const float* values, int64_t count, float scale) {
  double noise = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float q = std::clamp(std::nearbyint(values[i] / scale), -kHighest, kHighest);
    noise += (values[i] - q * scale) * (values[i] - q * scale);
  }
  return noise;
}

float ScaleOf(const float* values, int64_t count, bool search) {
  const float full = std::max(LargestOf(values, count) / kHighest, kLeastScale);
  if (!search) return full;
  float best = full;
  double least = NoiseOf(values, count, full);
  for (int i = 1; i <= 40; ++i) {
    const float scale = full * (1 - 0.01F * static_cast<float>(i));
    const double noise = NoiseOf(values, count, scale);
    if (noise < least) best = scale, least = noise;
  }
  return best;
}

}  // namespace

int WeightAxis(const Node& node) { return IsOp(node, "MatMul") && !node.attrs.Bool("transpose_b") ? 1 : 0; }

WeightRows RowsOf(const Node& node) {
  const Tensor w = node.input(1)->constant.Contiguous();
  const float* from = w.data<float>();
  WeightRows rows{w.dim(WeightAxis(node)), 0, std::vector<float>(from, from + w.size())};
  rows.columns = w.size() / rows.rows;
  if (WeightAxis(node) == 1)
    for (int64_t r = 0; r < rows.rows; ++r)
      for (int64_t c = 0; c < rows.columns; ++c) rows.row(r)[c] = from[c * rows.rows + r];
  return rows;
}

Tensor WeightsFrom(const Node& node, const WeightRows& rows) {
  Tensor w(DType::kF32, node.input(1)->constant.dims());
  auto* to = w.data<float>();
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t c = 0; c < rows.columns; ++c)
      to[WeightAxis(node) == 1 ? c * rows.rows + r : r * rows.columns + c] = rows.row(r)[c];
  return w;
}

IntegerWeights RoundWeights(const WeightRows& rows, const std::vector<float>& bias, float input_scale,
                            const WeightOptions& options) {
  IntegerWeights made{rows.rows, rows.columns, {}, {}};
  const float shared =
      options.per_channel ? 0 : ScaleOf(rows.values.data(), rows.rows * rows.columns, options.search);
  for (int64_t r = 0; r < rows.rows; ++r) {
    float scale = options.per_channel ? ScaleOf(rows.row(r), rows.columns, options.search) : shared;
    if (!bias.empty()) {
      const double least = std::fabs(bias[static_cast<size_t>(r)]) / (kLargestBias * input_scale);
      scale = std::max(scale, static_cast<float>(least));
    }
    made.scales.push_back(scale);
  }
  if (!options.per_channel) {
    const float largest = *std::max_element(made.scales.begin(), made.scales.end());
    made.scales.assign(made.scales.size(), largest);
  }
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t c = 0; c < rows.columns; ++c) {
      const float q = std::nearbyint(rows.row(r)[c] / made.scales[static_cast<size_t>(r)]);
      made.values.push_back(static_cast<int8_t>(std::clamp(q, -kHighest, kHighest)));
    }
  return made;
}

}  // namespace tern::compress
