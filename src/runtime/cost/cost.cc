#include "runtime/cost/cost.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ops/elementwise/activation_kind.h"
#include "ops/quant/quantized.h"

namespace tern {
namespace {

using Rule = std::function<std::optional<double>(const Node&)>;

std::optional<double> CountOf(const Value* v) {
  if (!v) return 0;
  if (!v->type.tensor() || !v->type.shape.fully_known()) return std::nullopt;
  double count = 1;
  for (const Dim& d : v->type.shape.dims) count *= static_cast<double>(d.value());
  return count;
}

std::optional<double> DimOf(const Value* v, int axis) {
  if (!v || !v->type.shape.ranked) return std::nullopt;
  const int rank = v->type.shape.rank(), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank || !v->type.shape[at].known()) return std::nullopt;
  return static_cast<double>(v->type.shape[at].value());
}

std::optional<double> Times(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional<double>(*a * *b) : std::nullopt;
}

std::optional<double> BytesOfValue(const Value* v) {
  if (v && v->type.tensor() && v->type.dtype == DType::kString) return 0;
  const auto count = CountOf(v);
  return v ? Times(count, BitWidth(v->type.dtype) / 8.0) : count;
}

// Multiply-accumulates.

std::optional<double> MatMulMacs(const Node& n) {
  const bool transposed = n.attrs.Has("transpose_a") && n.attrs.Bool("transpose_a");
  const Value* a = n.input(0);
  const int rank = a ? a->type.shape.rank() : -1;
  return Times(CountOf(n.output(0)), DimOf(a, transposed && rank > 1 ? -2 : -1));
}

// Each output element sums over one filter: input channels of its group times the kernel.
std::optional<double> ConvMacsWith(const Node& n, const Value* w) {
  const auto filters = DimOf(w, 0), weights = CountOf(w);
  if (!filters || !weights || *filters == 0) return std::nullopt;
  return Times(CountOf(n.output(0)), *weights / *filters);
}
std::optional<double> ConvMacs(const Node& n) { return ConvMacsWith(n, n.input(1)); }
std::optional<double> QConvMacs(const Node& n) { return ConvMacsWith(n, n.input(3)); }

// Each input element is spread by one filter: output channels of its group times the kernel.
std::optional<double> ConvTransposeMacs(const Node& n) {
  const auto channels = DimOf(n.input(1), 0), weights = CountOf(n.input(1));
  if (!channels || !weights || *channels == 0) return std::nullopt;
  return Times(CountOf(n.input(0)), *weights / *channels);
}

// At each step and for each sequence, every input and recurrent weight once.
std::optional<double> RnnMacs(const Node& n) {
  const auto input = DimOf(n.input(0), -1), elements = CountOf(n.input(0)), w = CountOf(n.input(1)),
             r = CountOf(n.input(2));
  if (!input || !elements || !w || !r || *input == 0) return std::nullopt;
  return *elements / *input * (*w + *r);
}

// Scores: every query element against every key; then every output element over every key.
std::optional<double> AttentionMacs(const Node& n) {
  const Value* k = n.input(1);
  auto keys = DimOf(k, -2);
  const auto past = n.input(4) ? DimOf(n.input(4), -2) : std::optional<double>(0);
  if (!keys || !past) return std::nullopt;
  auto q = CountOf(n.input(0)), y = CountOf(n.output(0));
  if (n.attrs.Bool("joint")) q = y;
  return q && y ? std::optional<double>((*q + *y) * (*keys + *past)) : std::nullopt;
}

// A product over every index that occurs, once per pair of operands.
std::optional<double> EinsumMacs(const Node& n) {
  std::string equation = n.attrs.Text("equation");
  std::map<char, double> sizes;
  size_t operand = 0;
  int axis = 0;
  double rest = 1;
  for (size_t i = 0; i < equation.size() && equation[i] != '-'; ++i) {
    const char c = equation[i];
    if (c == ',') {
      ++operand;
      axis = 0;
    } else if (c == '.') {
      return std::nullopt;  // an ellipsis: not counted
    } else if (c != ' ') {
      const auto d = DimOf(n.input(static_cast<int>(operand)), axis++);
      if (!d) return std::nullopt;
      sizes[c] = *d;
    }
  }
  for (const auto& [label, size] : sizes) rest *= size;
  return rest * static_cast<double>(operand);
}

const std::map<std::string, Rule, std::less<>>& MacRules() {
  static const auto* rules = new std::map<std::string, Rule, std::less<>>{
      {"MatMul", MatMulMacs},   {"Conv", ConvMacs},
      {"DeformConv", ConvMacs}, {"ConvTranspose", ConvTransposeMacs},
      {"Rnn", RnnMacs},         {"Attention", AttentionMacs},
      {"Einsum", EinsumMacs},   {"QConv", QConvMacs},
      {"QMatMul", MatMulMacs}};
  return *rules;
}

// Other arithmetic, in FLOPs.

constexpr double kGeluFlops = 5, kActivationFlops = 2;

Rule PerOutput(double flops) {
  return [flops](const Node& n) { return Times(CountOf(n.output(0)), flops); };
}
Rule PerInput(double flops) {
  return [flops](const Node& n) { return Times(CountOf(n.input(0)), flops); };
}

std::optional<double> EltwiseFlops(const Node& n) {
  const auto inputs = static_cast<double>(n.inputs().size());
  const auto factors = static_cast<double>(n.attrs.Floats("coefficients").size());
  return Times(CountOf(n.output(0)), inputs - 1 + factors);
}

std::optional<double> PoolFlops(const Node& n) {
  double window = 1;
  for (const int64_t k : n.attrs.Ints("kernel")) window *= static_cast<double>(k);
  return Times(CountOf(n.output(0)), window);
}

// Two for each element that is dequantized in the run, three for each that is quantized, and the op's own.
std::optional<double> QuantizedFlops(const Node& n) {
  const QuantizedForm& form = *QuantizedFormOf(n.op->name);
  std::optional<double> own = 0;
  if (n.op->name == "QPool") own = PoolFlops(n);
  if (n.op->name == "QGlobalPool") own = CountOf(n.input(0));
  if (n.op->name == "QBinary" || n.op->name == "QUnary" || n.op->name == "QActivation")
    own = CountOf(n.output(0));
  for (int i = 0; i < form.operands; ++i) {
    const auto count = n.input(3 * i)->is_constant() ? 0 : CountOf(n.input(3 * i));
    own = own && count ? std::optional<double>(*own + 2 * *count) : std::nullopt;
  }
  const double bias = form.has_bias && n.input(form.bias()) ? 1 : 0;
  const double bounds = form.has_bias && n.attrs.Text("activation") != "none" ? 1 : 0;
  const auto last = Times(CountOf(n.output(0)), 3 + bias + bounds);
  return own && last ? std::optional<double>(*own + *last) : std::nullopt;
}

const std::map<std::string, Rule, std::less<>>& FlopRules() {
  static const auto* rules =
      new std::map<std::string, Rule, std::less<>>{{"Pool", PoolFlops},
                                                   {"GlobalPool", PerInput(1)},
                                                   {"Reduce", PerInput(1)},
                                                   {"ArgReduce", PerInput(1)},
                                                   {"Cumulative", PerInput(1)},
                                                   {"Softmax", PerOutput(5)},
                                                   {"TopK", PerInput(1)},
                                                   {"BatchNorm", PerOutput(2)},
                                                   {"InstanceNorm", PerOutput(8)},
                                                   {"GroupNorm", PerOutput(8)},
                                                   {"LayerNorm", PerOutput(8)},
                                                   {"RmsNorm", PerOutput(4)},
                                                   {"Lrn", PerOutput(5)},
                                                   {"LpNorm", PerOutput(3)},
                                                   {"Gelu", PerOutput(kGeluFlops)},
                                                   {"Activation", PerOutput(kActivationFlops)},
                                                   {"Eltwise", EltwiseFlops},
                                                   {"Scale", PerOutput(2)},
                                                   {"Clip", PerOutput(kActivationFlops)},
                                                   {"Quantize", PerOutput(3)},
                                                   {"Dequantize", PerOutput(2)},
                                                   {"QConv", QuantizedFlops},
                                                   {"QMatMul", QuantizedFlops},
                                                   {"QBinary", QuantizedFlops},
                                                   {"QPool", QuantizedFlops},
                                                   {"QGlobalPool", QuantizedFlops},
                                                   {"QUnary", QuantizedFlops},
                                                   {"QActivation", QuantizedFlops},
                                                   {"RotaryEmbedding", PerOutput(3)},
                                                   {"Resize", PerOutput(4)},
                                                   {"GridSample", PerOutput(8)},
                                                   {"RoiAlign", PerOutput(8)}};
  return *rules;
}

// Per element of the result: one for bias and residual each; an activation as the op of its own.
double EpilogueFlops(const Node& n) {
  const double added = (n.input(2) ? 1 : 0) + (n.input(3) ? 1 : 0);
  const std::string kind = n.attrs.Text("activation");
  if (kind == "none") return added;
  if (kind.starts_with("gelu")) return added + kGeluFlops;
  const auto& names = ActivationNames();
  const bool has_parameters = kind == "clip" || std::any_of(names.begin(), names.end(),
                                                            [&](const char* name) { return kind == name; });
  return added + (has_parameters ? kActivationFlops : 1);
}

std::optional<double> Flops(const Node& n, double macs) {
  const auto it = FlopRules().find(n.op->name);
  if (it != FlopRules().end()) return it->second(n);
  if (n.attrs.Has("activation")) return Times(CountOf(n.output(0)), EpilogueFlops(n));
  if (macs > 0) return 0;
  return n.op->Is(kElementwise) ? CountOf(n.output(0)) : std::optional<double>(0);
}

bool Picks(const std::string& op) {
  static const auto* names = new std::set<std::string, std::less<>>{"Gather", "GatherElements", "GatherND",
                                                                    "Slice",  "Split",          "Compress"};
  return names->count(op) > 0;
}

std::optional<double> Bytes(const Node& n) {
  if (n.op->Is(kView) || n.op->Is(kControlFlow) || n.op->name == "Shape" || n.op->name == "Size") return 0;
  double total = 0;
  for (const Value* v : n.outputs()) {
    const auto bytes = BytesOfValue(v);
    if (!bytes) return std::nullopt;
    total += Picks(n.op->name) ? 2 * *bytes : *bytes;
  }
  for (size_t i = Picks(n.op->name) ? 1 : 0; i < n.inputs().size(); ++i) {
    const auto bytes = BytesOfValue(n.inputs()[i]);
    if (!bytes) return std::nullopt;
    total += *bytes;
  }
  return total;
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  macs += other.macs;
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

std::optional<Cost> CostOf(const Node& node) {
  const auto it = MacRules().find(node.op->name);
  const auto macs = it == MacRules().end() ? std::optional<double>(0) : it->second(node);
  if (!macs) return std::nullopt;
  const auto flops = Flops(node, *macs), bytes = Bytes(node);
  if (!flops || !bytes) return std::nullopt;
  return Cost{*macs, 2 * *macs + *flops, *bytes};
}

std::optional<Cost> CostOfBoth(const Node& first, const Node& next) {
  std::optional<Cost> cost = CostOf(first);
  const std::optional<Cost> then = CostOf(next);
  const std::optional<double> between = BytesOfValue(first.output(0));
  if (!cost || !then || !between) return std::nullopt;
  *cost += *then;
  cost->bytes -= 2 * *between;
  return cost;
}

std::string KindOf(const Node& node) {
  return node.attrs.Has("kind") ? StrCat(node.op->name, ".", node.attrs.Text("kind")) : node.op->name;
}

bool IsParameter(const Value& value) {
  const DType t = value.constant.dtype();
  return value.is_constant() && t != DType::kI64 && t != DType::kBool && t != DType::kString;
}

}  // namespace tern
