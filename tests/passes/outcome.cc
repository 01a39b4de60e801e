#include "outcome.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "bias_rounding.h"
#include "ir/evaluate.h"
#include "node_values.h"
#include "overflow.h"
#include "passes/rewrite/facts.h"
#include "random.h"

namespace tern {
namespace {

// Returns whether the node rounds its results. Such a node also stores them in memory that no other value
// shares, so that Disturb may overwrite them.
bool Rounds(const Node& node) {
  static const std::set<std::string> kOps = {
      "Binary",    "Unary",   "MatMul",     "Conv",    "ConvTranspose", "Reduce",
      "Softmax",   "Gelu",    "BatchNorm",  "RmsNorm", "LayerNorm",     "Activation",
      "Attention", "Eltwise", "GlobalPool", "Scale",   "GroupNorm",     "InstanceNorm"};
  static const std::set<std::string> kExact = {"neg", "abs", "relu", "min", "max"};
  return kOps.count(node.op->name) && !kExact.count(KindName(node));
}

double Rounding(DType dtype) { return dtype == DType::kF16 ? 1e-3 : dtype == DType::kBF16 ? 8e-3 : 1e-6; }

double Largest(const Tensor& t) {
  double largest = 0;
  for (double v : ToDoubles(t))
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

// Adds a random rounding error to each element, in place. If the node computes sums of products, terms may
// cancel, so that the error of a small element can be as large as that of the largest element. The errors are
// then up to twice the rounding error of the largest element (docs/reports/accuracy.md).
void Disturb(const Node& node, const Tensor& t, Random& random) {
  if (!IsFloat(t.dtype()) || !t.contiguous()) return;
  const double error = node.op->macs ? 2 * Rounding(t.dtype()) * Largest(t) : 0;
  Tensor view = t;
  for (int64_t i = 0; i < t.size(); ++i) {
    const double v = LoadDouble(t, i);
    StoreDouble(view, i, v + std::max(error, Rounding(t.dtype()) * std::abs(v)) * random.Real(-1, 1));
  }
}

// An activation such as tan amplifies the errors of the sums to which it is applied.
void DisturbOutputs(const NodeValues& values, const Node& node, const DatumList& outputs, Random& random) {
  if (const auto sums = values.SumsOf(node)) {
    Disturb(node, *sums, random);
    NodeValues::Activate(node, *sums, outputs[0].tensor);
  }
  for (const Datum& d : outputs)
    if (d.is_tensor()) Disturb(node, d.tensor, random);
}

bool IsCastToHalf(const Node& node) {
  const DType to = node.output(0)->type.dtype;
  return node.op->name == "Cast" && (to == DType::kF16 || to == DType::kBF16);
}

bool HasCastToHalf(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    return IsCastToHalf(*node) || std::any_of(node->subgraphs().begin(), node->subgraphs().end(),
                                              [](const auto& body) { return HasCastToHalf(*body); });
  });
}

double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b);
  return std::isfinite(d) ? d : std::numeric_limits<double>::infinity();
}

void Widen(const Datum& plain, const Datum& disturbed, std::vector<double>& slack) {
  if (!plain.is_tensor() || !disturbed.is_tensor() || plain.tensor.dims() != disturbed.tensor.dims()) return;
  const auto a = ToDoubles(plain.tensor), b = ToDoubles(disturbed.tensor);
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = Distance(a[i], b[i]);
    if (std::isfinite(d)) most = std::max(most, d);
    slack[i] = std::max(slack[i], std::isfinite(d) ? 0 : d);
  }
  for (double& s : slack) s += 8 * most;
}

// Runs the graph with random rounding errors in the results of the nodes for which `rounds` is true.
// Increases `slack` by a multiple of the differences between these outputs and the outputs `plain` without
// rounding errors.
Status AddSlack(const Graph& graph, const DatumList& inputs, const DatumList& plain,
                const std::function<bool(const Node&)>& rounds, std::vector<std::vector<double>>& slack) {
  for (uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    NodeValues values(graph, inputs);
    const auto disturb = [&](const Node& node, const DatumList& outputs) {
      if (rounds(node)) DisturbOutputs(values, node, outputs, random);
      values.Add(node, outputs);
    };
    TERN_ASSIGN(const DatumList other, EvaluateGraph(graph, inputs, disturb));
    for (size_t i = 0; i < other.size(); ++i) Widen(plain[i], other[i], slack[i]);
  }
  return {};
}

// Makes the slack of the elements that depend on a sum which may overflow infinite.
Status AddOverflow(const Graph& graph, const DatumList& inputs, const DatumList& plain,
                   std::vector<std::vector<double>>& slack) {
  OverflowMarker marker(graph, inputs);
  TERN_ASSIGN(const DatumList other,
              EvaluateGraph(graph, inputs, [&](const Node& node, const DatumList& outputs) {
                marker.Observe(node, outputs);
              }));
  for (size_t i = 0; marker.marked() && i < other.size(); ++i) Widen(plain[i], other[i], slack[i]);
  return {};
}

// Makes room for biases that the optimizer rounds to integers. Both extremes of the error are tried, because
// only they show every element that is quantized differently.
Status AddBiasRounding(const Graph& graph, const DatumList& inputs, const DatumList& plain,
                       std::vector<std::vector<double>>& slack) {
  for (double share : {-1.0, 1.0}) {
    BiasRounding rounding(graph, inputs, share);
    TERN_ASSIGN(const DatumList other,
                EvaluateGraph(graph, inputs, [&](const Node& node, const DatumList& outputs) {
                  rounding.Observe(node, outputs);
                }));
    for (size_t i = 0; rounding.found() && i < other.size(); ++i) Widen(plain[i], other[i], slack[i]);
  }
  return {};
}

std::vector<double> FirstSlack(const Datum& d) {
  if (!d.is_tensor() || d.tensor.dtype() == DType::kString) return {};
  const auto values = ToDoubles(d.tensor);
  if (!IsFloat(d.tensor.dtype())) return std::vector<double>(values.size(), 0);
  double most = 1;
  for (double v : values)
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  return std::vector<double>(values.size(), 5 * Rounding(d.tensor.dtype()) * most);
}

}  // namespace

Result<Outcome> OutcomeOf(const Graph& graph, const DatumList& inputs) {
  return Guard([&]() -> Result<Outcome> {
    Outcome outcome;
    outcome.inputs = inputs;
    TERN_ASSIGN(outcome.outputs, EvaluateGraph(graph, inputs));
    for (const Datum& d : outcome.outputs) outcome.slack.push_back(FirstSlack(d));
    TERN_TRY(AddSlack(graph, inputs, outcome.outputs, Rounds, outcome.slack));
    TERN_TRY(AddBiasRounding(graph, inputs, outcome.outputs, outcome.slack));
    TERN_TRY(AddOverflow(graph, inputs, outcome.outputs, outcome.slack));
    outcome.wide_slack = outcome.slack;
    const auto rounds_or_casts = [](const Node& node) { return Rounds(node) || IsCastToHalf(node); };
    if (HasCastToHalf(graph))
      TERN_TRY(AddSlack(graph, inputs, outcome.outputs, rounds_or_casts, outcome.wide_slack));
    return outcome;
  });
}

std::string Differs(const Graph& graph, const Outcome& wanted, const DatumList& got,
                    const Strictness& strict) {
  const auto& slack = strict.halves ? wanted.slack : wanted.wide_slack;
  for (size_t i = 0; i < got.size(); ++i) {
    const Datum &a = wanted.outputs[i], &b = got[i];
    const std::string name = StrCat("output '", graph.outputs()[i]->name, "' ");
    if (!a.is_tensor()) continue;
    if (!b.is_tensor() || a.tensor.dtype() != b.tensor.dtype() || a.tensor.dims() != b.tensor.dims())
      return StrCat(name, "is ", b.Describe(), ", was ", a.Describe());
    if (a.tensor.dtype() == DType::kString) continue;
    const auto x = ToDoubles(a.tensor), y = ToDoubles(b.tensor);
    for (size_t k = 0; k < x.size(); ++k) {
      if (!strict.infinities && !std::isfinite(x[k]) && !std::isfinite(y[k])) continue;
      if (Distance(x[k], y[k]) > slack[i][k])
        return StrCat(name, "element ", k, " is ", y[k], ", was ", x[k], " (slack ", slack[i][k], ")");
    }
  }
  return "";
}

}  // namespace tern
