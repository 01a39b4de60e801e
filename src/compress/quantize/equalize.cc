#include "compress/quantize/equalize.h"

#include <algorithm>
#include <cmath>

#include "compress/quantize/weights.h"
#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

constexpr double kMostFactor = 16;  // relative to the mean factor of a pair

bool IsDepthwise(const Node& node) {
  const Tensor& w = node.input(1)->constant;
  return IsOp(node, "Conv") && node.attrs.Int("group") == w.dim(0) && w.dim(1) == 1;
}

// Returns the number of input channels of a layer, or 0 for a grouped convolution that is not depthwise.
int64_t InputChannels(const Node& node) {
  const Tensor& w = node.input(1)->constant;
  if (IsOp(node, "MatMul")) return w.dim(node.attrs.Bool("transpose_b") ? 1 : 0);
  if (IsDepthwise(node)) return w.dim(0);
  return node.attrs.Int("group") == 1 ? w.dim(1) : 0;
}

// Calls f(weight) for all weights that multiply input channel `channel`.
template <class F> void ForEachReader(const Node& node, WeightRows& rows, int64_t channel, const F& f) {
  if (IsDepthwise(node)) {
    for (int64_t c = 0; c < rows.columns; ++c) f(rows.row(channel)[c]);
    return;
  }
  const int64_t taps = rows.columns / InputChannels(node);
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t t = 0; t < taps; ++t) f(rows.row(r)[channel * taps + t]);
}

std::vector<double> FactorsOf(const Node& second, WeightRows& rows, const Channels& channels) {
  std::vector<double> factors;
  double logs = 0, known = 0;
  for (size_t i = 0; i < channels.low.size(); ++i) {
    const double activation = std::max(std::fabs(channels.low[i]), std::fabs(channels.high[i]));
    double weight = 0;
    ForEachReader(second, rows, static_cast<int64_t>(i),
                  [&](float& w) { weight = std::max<double>(weight, std::fabs(w)); });
    const bool usable = activation > 0 && weight > 0 && std::isfinite(activation);
    factors.push_back(usable ? std::sqrt(activation / weight) : 0);
    if (usable) logs += std::log(factors.back()), ++known;
  }
  const double mean = known > 0 ? std::exp(logs / known) : 1;
  for (double& f : factors) f = f > 0 ? std::clamp(f / mean, 1 / kMostFactor, kMostFactor) : 1;
  return factors;
}

void Replace(Graph& graph, Node& node, int input, Tensor tensor) {
  node.SetInput(input, graph.AddConstant(std::move(tensor), node.input(input)->name));
}

}  // namespace

std::vector<LayerPair> EqualizablePairs(const Placement& placement) {
  std::vector<LayerPair> pairs;
  for (const Layer& layer : placement.layers) {
    Value* v = layer.node->output(0);
    Node* reader = OnlyReader(v);
    if (reader && IsOp(*reader, "Unary", "relu")) v = reader->output(0), reader = OnlyReader(v);
    const bool to_layer = reader && std::any_of(placement.layers.begin(), placement.layers.end(),
                                                [&](const Layer& other) { return other.node == reader; });
    if (!to_layer || reader->input(0) != v) continue;
    if (IsOp(*reader, "MatMul") && reader->attrs.Bool("transpose_a")) continue;
    if (IsOp(*reader, "MatMul") != IsOp(*layer.node, "MatMul")) continue;  // channels are in different axes
    const int64_t outputs = layer.node->input(1)->constant.dim(WeightAxis(*layer.node));
    if (InputChannels(*reader) == outputs) pairs.push_back({layer.node, reader, v});
  }
  return pairs;
}

int Equalize(Graph& graph, const std::vector<LayerPair>& pairs,
             const std::function<const Channels&(const Value&)>& channels) {
  int changed = 0;
  for (const LayerPair& pair : pairs) {
    const Channels& observed = channels(*pair.between);
    WeightRows first = RowsOf(*pair.first), second = RowsOf(*pair.second);
    if (observed.low.size() != static_cast<size_t>(first.rows)) continue;
    const std::vector<double> factors = FactorsOf(*pair.second, second, observed);
    for (int64_t i = 0; i < first.rows; ++i) {
      const auto factor = static_cast<float>(factors[static_cast<size_t>(i)]);
      for (int64_t c = 0; c < first.columns; ++c) first.row(i)[c] /= factor;
      ForEachReader(*pair.second, second, i, [&](float& w) { w *= factor; });
    }
    Replace(graph, *pair.first, 1, WeightsFrom(*pair.first, first));
    Replace(graph, *pair.second, 1, WeightsFrom(*pair.second, second));
    if (const Value* bias = pair.first->input(2)) {
      Tensor scaled = bias->constant.Clone();
      for (int64_t i = 0; i < first.rows; ++i)
        scaled.data<float>()[i] /= static_cast<float>(factors[static_cast<size_t>(i)]);
      Replace(graph, *pair.first, 2, std::move(scaled));
    }
    ++changed;
  }
  if (changed) graph.RemoveUnusedConstants();
  return changed;
}

}  // namespace tern::compress
