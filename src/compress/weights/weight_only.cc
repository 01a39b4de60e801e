#include "compress/weights/weight_only.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compress/weights/awq.h"
#include "compress/weights/block_adaround.h"
#include "compress/weights/gptq.h"
#include "compress/weights/layer_inputs.h"
#include "ir/verify.h"
#include "passes/pipeline.h"
#include "passes/rewrite/names.h"

namespace tern::compress {
namespace {

constexpr int64_t kMinInputs = 32, kMinOutputs = 8, kMinSize = 4096;

// A MatMul with constant weights.
struct Layer {
  Node* node = nullptr;
  int64_t inputs = 0, outputs = 0;
  bool transposed = false;
};

bool Fits(const Node& node, Layer& layer) {
  if (node.op->name != "MatMul") return false;
  const Value* w = node.input(1);
  if (!w->is_constant() || w->constant.dtype() != DType::kF32 || w->constant.rank() != 2) return false;
  if (node.attrs.Bool("transpose_a") || node.attrs.Float("alpha") != 1) return false;
  layer.transposed = node.attrs.Bool("transpose_b");
  layer.inputs = w->constant.dim(layer.transposed ? 1 : 0);
  layer.outputs = w->constant.dim(layer.transposed ? 0 : 1);
  return layer.inputs >= kMinInputs && layer.outputs >= kMinOutputs && w->constant.size() >= kMinSize;
}

void FindLayers(Graph& graph, const std::vector<std::string>& keep, std::vector<Layer>& layers) {
  for (const auto& node : graph.nodes()) {
    for (const auto& sub : node->subgraphs()) FindLayers(*sub, keep, layers);
    Layer layer{node.get()};
    if (Fits(*node, layer) && std::find(keep.begin(), keep.end(), node->name) == keep.end())
      layers.push_back(layer);
  }
}

// Returns the weights as [outputs][inputs].
std::vector<float> WeightsOf(const Layer& l) {
  const Tensor w = l.node->input(1)->constant.Contiguous();
  const float* from = w.data<const float>();
  if (l.transposed) return {from, from + w.size()};
  std::vector<float> out(static_cast<size_t>(w.size()));
  for (int64_t o = 0; o < l.outputs; ++o)
    for (int64_t i = 0; i < l.inputs; ++i)
      out[static_cast<size_t>(o * l.inputs + i)] = from[i * l.outputs + o];
  return out;
}

// Returns the integers as [inputs, outputs], and the scales as [blocks, outputs] or [outputs].
Tensor Integers(const BlockMatrix& m, int bits) {
  Tensor q(bits == 4 ? DType::kI4 : DType::kI8, {m.inputs, m.outputs});
  for (int64_t o = 0; o < m.outputs; ++o)
    for (int64_t i = 0; i < m.inputs; ++i)
      StoreLong(q, i * m.outputs + o, m.q[static_cast<size_t>(o * m.inputs + i)]);
  return q;
}
Tensor Scales(const BlockMatrix& m, bool blocked) {
  Tensor scale(DType::kF16, blocked ? Dims{m.blocks, m.outputs} : Dims{m.outputs});
  for (int64_t o = 0; o < m.outputs; ++o)
    for (int64_t b = 0; b < m.blocks; ++b)
      StoreDouble(scale, b * m.outputs + o, m.scale[static_cast<size_t>(o * m.blocks + b)]);
  return scale;
}

// Returns v / factors, which is inserted before the node `before`.
Value* Divided(Value* v, const std::vector<float>& factors, Node& before) {
  Graph& graph = *before.graph;
  Tensor inverse(DType::kF32, {static_cast<int64_t>(factors.size())});
  for (size_t i = 0; i < factors.size(); ++i) inverse.data<float>()[i] = 1 / factors[i];
  Attrs attrs = FindOp("Binary")->defaults;
  TERN_CHECK(attrs.Set("kind", "mul").ok());
  Value* by = graph.AddConstant(inverse, StrCat(v->name, "_factors"));
  Node* node = graph.AddNode(*FindOp("Binary"), attrs, {v, by}, 1, &before);
  node->name = StrCat(v->name, "_scaled");
  node->output(0)->name = node->name;
  node->output(0)->type = v->type;
  return node->output(0);
}

// Replaces the MatMul by a MatMulNBits. Returns the bytes of the new weights.
int64_t Replace(const Layer& l, const BlockMatrix& m, const WeightOnlyOptions& options) {
  Node& old = *l.node;
  Graph& graph = *old.graph;
  const OpDef& op = *FindOp("MatMulNBits");
  Attrs attrs = op.defaults;
  for (const Attrs::Entry& entry : old.attrs.List())
    if (attrs.Has(entry.name)) TERN_CHECK(attrs.Set(entry.name, entry.value).ok());
  TERN_CHECK(attrs.Set("transpose_b", false).ok() && attrs.Set("block_size", options.format.block).ok() &&
             attrs.Set("dynamic", options.dynamic).ok());
  const std::string name = old.input(1)->name;
  Value* q = graph.AddConstant(Integers(m, options.format.bits), StrCat(name, "_quantized"));
  Value* scale = graph.AddConstant(Scales(m, options.format.block > 0), StrCat(name, "_scale"));
  Node* made = graph.AddNode(op, attrs, {old.input(0), q, old.input(2), old.input(3), scale}, 1, &old);
  made->name = old.name, made->origin = old.origin;
  Value* y = old.output(0);
  std::swap(made->output(0)->name, y->name);
  made->output(0)->type = y->type;
  graph.ReplaceUses(y, made->output(0));
  graph.RemoveNode(&old);
  return static_cast<int64_t>(q->constant.bytes() + scale->constant.bytes());
}

double Decibels(double signal, double noise) {
  return noise > 0 && signal > 0 ? 10 * std::log10(signal / noise) : noise > 0 ? 0 : 200;
}

// Returns the signal-to-noise ratio in dB: that of the layer's result or, without second moments, that of its
// weights. If `factors` is not empty, the weights of input i were multiplied by factors[i].
double SqnrOf(const std::vector<float>& w, const BlockMatrix& m, const Hessian* hessian,
              const std::vector<float>& factors) {
  double signal = 0, noise = 0;
  std::vector<float> error(static_cast<size_t>(m.inputs));
  for (int64_t o = 0; o < m.outputs; ++o) {
    const float* row = w.data() + o * m.inputs;
    for (int64_t i = 0; i < m.inputs; ++i)
      error[static_cast<size_t>(i)] =
          m.At(o, i) / (factors.empty() ? 1 : factors[static_cast<size_t>(i)]) - row[i];
    for (int64_t i = 0; !hessian && i < m.inputs; ++i) {
      const double e = error[static_cast<size_t>(i)], v = row[i];
      signal += v * v, noise += e * e;
    }
    if (hessian) signal += hessian->ErrorOf(row), noise += hessian->ErrorOf(error.data());
  }
  return Decibels(signal, noise);
}

class WeightQuantizer {
 public:
  WeightQuantizer(Graph& graph, const WeightOnlyOptions& options)
      : graph_(graph), options_(options), workers_(options.threads) {}

  Result<WeightOnlyReport> Run(Samples* samples, const ShowProgress& show) {
    OptimizeOptions optimize;
    optimize.level = Level::kExtended;
    TERN_TRY(Optimize(graph_, optimize).TakeStatus());
    FindLayers(graph_, options_.keep, layers_);
    TERN_TRY(CheckLayers());
    if (options_.method != WeightMethod::kNearest && !samples)
      return InvalidArgument("this method needs calibration data");
    if (samples) {
      TERN_TRY(Observe(*samples, show));
    }
    if (options_.method == WeightMethod::kAwq) ChooseFactors();
    for (size_t i = 0; i < layers_.size(); ++i) Quantize(i);
    graph_.RemoveUnusedConstants();
    TERN_TRY(InferGraph(graph_));
    MakeNamesUnique(graph_);
    TERN_TRY(VerifyGraph(graph_));
    // Divided has inserted multiplications. They are fused into the nodes before them, such as a LayerNorm
    // without scale and bias.
    if (options_.method == WeightMethod::kAwq) TERN_TRY(Optimize(graph_, optimize).TakeStatus());
    return std::move(report_);
  }

 private:
  Status CheckLayers() const {
    for (const std::string& name : options_.keep)
      if (std::none_of(graph_.nodes().begin(), graph_.nodes().end(),
                       [&](const auto& node) { return node->name == name; }))
        return NotFound("no node is called '", name, "'");
    if (!layers_.empty()) return {};
    return InvalidArgument("the model has no product by a constant matrix of f32 with at least ", kMinInputs,
                           " inputs, ", kMinOutputs, " outputs and ", kMinSize, " elements");
  }

  Status Observe(Samples& samples, const ShowProgress& show) {
    std::vector<const Value*> inputs;
    for (const Layer& l : layers_) {
      if (l.node->graph != &graph_)
        return Unsupported("'", l.node->name, "' is in a nested graph, whose values are not observed");
      inputs.push_back(l.node->input(0));
    }
    TERN_ASSIGN(moments_, SecondMoments(graph_, inputs, samples, options_.threads, show));
    for (const Value* v : inputs) hessians_.push_back(&moments_.at(v));
    return {};
  }

  // Chooses factors for each value that layers read, and makes the layers read the divided value.
  void ChooseFactors() {
    for (const auto& [value, hessian] : moments_) {
      std::vector<size_t> readers;
      std::vector<std::vector<float>> weights;
      for (size_t i = 0; i < layers_.size(); ++i)
        if (layers_[i].node->input(0) == value) readers.push_back(i);
      for (size_t i : readers) weights.push_back(WeightsOf(layers_[i]));
      std::vector<AwqLayer> layers;
      for (size_t i = 0; i < readers.size(); ++i)
        layers.push_back({&weights[i], layers_[readers[i]].outputs});
      const std::vector<float> factors = AwqFactors(layers, options_.format, hessian, workers_);
      if (factors.empty()) continue;
      Value* divided = Divided(const_cast<Value*>(value), factors, *layers_[readers[0]].node);
      for (size_t i : readers) layers_[i].node->SetInput(0, divided), factors_[i] = factors;
    }
  }

  BlockMatrix Rounded(const Layer& l, const std::vector<float>& w, const Hessian* hessian,
                      const std::vector<float>& factors) const {
    if (options_.method == WeightMethod::kGptq)
      return Gptq(w, l.outputs, options_.format, *hessian, workers_);
    if (options_.method == WeightMethod::kAdaRound)
      return AdaRound(w, l.outputs, options_.format, *hessian, workers_);
    std::vector<float> importance = hessian ? hessian->Diagonal() : std::vector<float>();
    for (size_t i = 0; i < factors.size(); ++i) importance[i] /= factors[i] * factors[i];
    return RoundToNearest(factors.empty() ? w : Multiplied(w, factors), l.outputs, options_.format,
                          hessian ? importance.data() : nullptr, workers_);
  }

  void Quantize(size_t i) {
    const Layer& l = layers_[i];
    const std::vector<float> w = WeightsOf(l);
    const Hessian* hessian = hessians_.empty() ? nullptr : hessians_[i];
    const BlockMatrix m = Rounded(l, w, hessian, factors_[i]);
    report_.layers.push_back({l.node->name, l.inputs, l.outputs, SqnrOf(w, m, hessian, factors_[i])});
    report_.bytes_before += static_cast<int64_t>(w.size() * sizeof(float));
    report_.bytes_after += Replace(l, m, options_);
  }

  Graph& graph_;
  const WeightOnlyOptions& options_;
  const Workers workers_;
  std::vector<Layer> layers_;
  MomentsByValue moments_;
  std::vector<const Hessian*> hessians_;          // of each layer; empty without data
  std::map<size_t, std::vector<float>> factors_;  // of AWQ; empty for a layer that has none
  WeightOnlyReport report_;
};

}  // namespace

const std::vector<std::string>& WeightMethodNames() {
  static const auto* names = new std::vector<std::string>{"nearest", "gptq", "awq", "adaround"};
  return *names;
}

std::optional<WeightMethod> ParseWeightMethod(std::string_view name) {
  const std::vector<std::string>& names = WeightMethodNames();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<WeightMethod>(at - names.begin());
}

Result<WeightOnlyReport> QuantizeWeights(Graph& graph, const WeightOnlyOptions& options, Samples* samples,
                                         const ShowProgress& show) {
  return Guard([&] { return WeightQuantizer(graph, options).Run(samples, show); });
}

}  // namespace tern::compress
