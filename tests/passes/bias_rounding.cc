#include "bias_rounding.h"

#include <algorithm>
#include <cmath>

#include "passes/rewrite/facts.h"

namespace tern {
namespace {

bool IsRealBias(const Value* v) { return v && !MadeBy(v, "Dequantize"); }

// Returns whether a bias is added to the node's result, by the node or by the next one.
bool HasRealBias(const Node& node) {
  if (node.inputs().size() > 2 && IsRealBias(node.input(2))) return true;
  const auto& uses = node.output(0)->uses;
  return std::any_of(uses.begin(), uses.end(), [](const auto& use) {
    const bool sum =
        IsOp(*use.first, "Binary") && (KindName(*use.first) == "add" || KindName(*use.first) == "sub");
    return sum && IsRealBias(use.first->input(1 - use.second));
  });
}

}  // namespace

double BiasRounding::Error(const Node& node) const {
  if ((!IsOp(node, "Conv") && !IsOp(node, "MatMul")) || !HasRealBias(node)) return 0;
  double unit = 1;
  for (int i : {0, 1}) {
    const Node* dequantize = MadeBy(node.input(i), "Dequantize");
    const auto scale = dequantize ? values_.Find(*dequantize->input(1)) : std::nullopt;
    if (!scale) return 0;
    double largest = 0;
    for (double s : ToDoubles(scale->tensor)) largest = std::max(largest, std::abs(s));
    unit *= largest;
  }
  return std::isfinite(unit) ? unit / 2 : 0;
}

void BiasRounding::Observe(const Node& node, const DatumList& outputs) {
  const double error = Error(node);
  if (error > 0 && outputs[0].is_tensor()) {
    found_ = true;
    const Tensor& output = outputs[0].tensor;
    const auto sums = values_.SumsOf(node);
    Tensor view = sums ? *sums : output;
    for (int64_t i = 0; i < view.size(); ++i) StoreDouble(view, i, LoadDouble(view, i) + share_ * error);
    if (sums) NodeValues::Activate(node, *sums, output);
  }
  values_.Add(node, outputs);
}

}  // namespace tern
