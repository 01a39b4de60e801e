#include "compress/quantize/insert.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compress/first_reader.h"
#include "ir/verify.h"

namespace tern::compress {
namespace {

class Inserter {
 public:
  Inserter(Graph& graph, const Placement& placement, const std::vector<Grid>& grids)
      : graph_(graph), placement_(placement), grids_(grids) {}

  void Insert(Value* v) {
    Node* before = FirstReader(graph_, *v);
    const auto [scale, zero] = Parameters(placement_.group.at(v));
    const std::vector<std::pair<Node*, int>> readers = v->uses;
    Value* q = Add("Quantize", {v, scale, zero}, before);
    Value* d = Add("Dequantize", {q, scale, zero}, before);
    for (const auto& [reader, index] : readers) reader->SetInput(index, d);
    if (v->output_uses == 0 || v->is_input) return;
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i] == v) graph_.ReplaceOutput(static_cast<int>(i), d);
    std::swap(v->name, d->name);
  }

  void Weights(const Layer& layer, const LayerWeights& made, bool integer_bias) {
    Node& node = *layer.node;
    const IntegerWeights& w = made.weights;
    const std::string name = node.input(1)->name;
    Tensor integers(DType::kI8, node.input(1)->constant.dims());
    const bool across = WeightAxis(node) == 1;
    for (int64_t r = 0; r < w.rows; ++r)
      for (int64_t c = 0; c < w.columns; ++c)
        integers.data<int8_t>()[across ? c * w.rows + r : r * w.columns + c] =
            w.values[static_cast<size_t>(r * w.columns + c)];
    node.SetInput(1, Constant(std::move(integers), w.scales, name, WeightAxis(node), node));
    if (!made.bias.empty()) Bias(node, made, name, integer_bias);
  }

  Status Finish() {
    graph_.RemoveUnusedConstants();
    TERN_TRY(InferGraph(graph_));
    return VerifyGraph(graph_);
  }

 private:
  void Bias(Node& node, const LayerWeights& made, const std::string& weights_name, bool integer) {
    const std::string name = node.input(2) ? node.input(2)->name : StrCat(weights_name, "_bias");
    const auto rows = static_cast<int64_t>(made.bias.size());
    if (!integer) {
      Tensor bias(DType::kF32, {rows});
      std::copy(made.bias.begin(), made.bias.end(), bias.data<float>());
      node.SetInput(2, graph_.AddConstant(std::move(bias), name));
      return;
    }
    const float input_scale = grids_[placement_.group.at(Source(*node.input(0)))].scale;
    Tensor bias(DType::kI32, {rows});
    std::vector<float> scales;
    for (size_t r = 0; r < made.bias.size(); ++r) {
      scales.push_back(input_scale * made.weights.scales[r]);
      bias.data<int32_t>()[r] =
          static_cast<int32_t>(std::nearbyint(static_cast<double>(made.bias[r]) / scales.back()));
    }
    node.SetInput(2, Constant(std::move(bias), scales, name, 0, node));
  }

  // Returns the value before the Quantize and Dequantize that Insert added.
  static const Value* Source(const Value& dequantized) {
    return dequantized.producer->input(0)->producer->input(0);
  }

  // Returns the scale and the zero point of a group. All its values share the constants.
  std::pair<Value*, Value*> Parameters(size_t group) {
    const Grid& grid = grids_[group];
    auto& [scale, zero] = parameters_[group];
    if (!scale) scale = graph_.AddConstant(Tensor::Scalar(DType::kF32, grid.scale));
    Value*& shared = zeros_[grid.zero];
    if (!shared) shared = graph_.AddConstant(Tensor::Scalar(grid.dtype, grid.zero));
    zero = shared;
    return {scale, zero};
  }

  Value* Add(const char* op, const std::vector<Value*>& inputs, Node* before, int64_t axis = 1) {
    const OpDef& def = *FindOp(op);
    Attrs attrs = def.defaults;
    TERN_CHECK(attrs.Set("axis", axis).ok());
    return graph_.AddNode(def, attrs, inputs, 1, before)->output(0);
  }

  // Adds integers and their scales as constants. Returns the result of a Dequantize in front of `reader`.
  Value* Constant(Tensor integers, const std::vector<float>& scales, const std::string& name, int64_t axis,
                  Node& reader) {
    const bool one = std::all_of(scales.begin(), scales.end(), [&](float s) { return s == scales[0]; });
    Tensor stored(DType::kF32, one ? Dims{} : Dims{static_cast<int64_t>(scales.size())});
    std::copy_n(scales.begin(), stored.size(), stored.data<float>());
    Value* q = graph_.AddConstant(std::move(integers), name);
    Value* scale = graph_.AddConstant(std::move(stored), StrCat(name, "_scale"));
    return Add("Dequantize", {q, scale}, &reader, axis);
  }

  Graph& graph_;
  const Placement& placement_;
  const std::vector<Grid>& grids_;
  std::map<size_t, std::pair<Value*, Value*>> parameters_;
  std::map<int32_t, Value*> zeros_;
};

}  // namespace

Status InsertGrids(Graph& graph, const Placement& placement, const std::vector<Grid>& grids,
                   const std::vector<LayerWeights>& weights, bool integer_bias) {
  Inserter inserter(graph, placement, grids);
  for (Value* v : placement.values) inserter.Insert(v);
  for (size_t i = 0; i < placement.layers.size(); ++i)
    inserter.Weights(placement.layers[i], weights[i], integer_bias);
  return inserter.Finish();
}

}  // namespace tern::compress
