#include "grow.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/evaluate.h"
#include "makers.h"
#include "passes/rewrite/facts.h"

namespace tern {
namespace {

constexpr double kTame = 500;
constexpr int64_t kMostElements = 4096;

bool Tame(const Datum& d) {
  if (!d.is_tensor()) return false;
  if (d.tensor.size() > kMostElements) return false;
  if (!IsFloat(d.tensor.dtype())) return true;
  for (double v : ToDoubles(d.tensor))
    if (!(std::abs(v) < kTame)) return false;
  return true;
}

}  // namespace

Grower::Grower(Graph& graph, Random& random, const DatumList& inputs)
    : graph_(graph), random_(random), inputs_(inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value* v = graph.inputs()[i];
    if (!inputs[i].is_tensor()) continue;
    samples_[v] = inputs[i].tensor;
    exact_.insert(v);
    pool_.push_back(v);
  }
  const auto keep = [&](const Node& node, const DatumList& outputs) {
    if (node.graph != &graph_) return;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!Tame(outputs[i])) continue;
      samples_[node.outputs()[i]] = outputs[i].tensor.Clone();
      pool_.push_back(node.outputs()[i]);
    }
  };
  if (!graph.nodes().empty()) (void)EvaluateGraph(graph, inputs, keep);
}

bool Grower::IsExact(const Node& node) const {
  static const std::set<std::string> kMoves = {"Identity", "Reshape",   "Squeeze", "Unsqueeze", "Flatten",
                                               "Concat",   "Transpose", "Split",   "Slice",     "Gather",
                                               "Pad",      "Tile",      "Expand",  "Clip",      "Where"};
  static const std::set<std::string> kKinds = {"neg", "abs", "relu", "min", "max"};
  if (!kMoves.count(node.op->name) && !kKinds.count(KindName(node))) return false;
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* v) { return !v || v->is_constant() || exact_.count(v); });
}

bool Grower::Sample(Node& node) {
  std::vector<const Datum*> inputs;
  std::vector<Datum> data(node.inputs().size());
  for (size_t i = 0; i < data.size(); ++i) {
    const Value* v = node.inputs()[i];
    if (v) data[i] = v->is_constant() ? v->constant : samples_[v];
    inputs.push_back(v ? &data[i] : nullptr);
  }
  auto results = Guard([&] { return EvaluateNode(node, inputs); });
  if (!results.ok() || !std::all_of(results->begin(), results->end(), Tame)) return false;
  for (size_t i = 0; i < results->size(); ++i) {
    samples_[node.outputs()[i]] = (*results)[i].tensor.Clone();
    pool_.push_back(node.outputs()[i]);
    if (IsExact(node)) exact_.insert(node.outputs()[i]);
  }
  return true;
}

std::vector<Value*> Grower::Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                                int outputs) {
  const std::vector<Value*> none(static_cast<size_t>(outputs), nullptr);
  if (std::count(inputs.begin(), inputs.end(), nullptr)) return none;
  Builder builder(graph_);
  const auto values = builder.Ops(op, inputs, attrs, outputs);
  if (builder.status().ok() && Sample(*values[0]->producer)) return values;
  graph_.RemoveNode(values[0]->producer);
  return none;
}

Value* Grower::Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs) {
  return Ops(op, inputs, attrs, 1)[0];
}

Node* Grower::Open(const char* op, const std::vector<Value*>& inputs, int outputs) {
  return Builder(graph_).Open(op, inputs, {}, outputs);
}

Value* Grower::Close(Node* node) {
  Builder builder(graph_);
  builder.Finish(node);
  const auto outputs = graph_.outputs();
  bool tame = builder.status().ok();
  if (tame) {
    graph_.SetOutputs(node->outputs());
    auto results = EvaluateGraph(graph_, inputs_);
    graph_.SetOutputs(outputs);
    tame = results.ok() && std::all_of(results->begin(), results->end(), Tame);
    for (size_t i = 0; tame && i < results->size(); ++i) {
      samples_[node->outputs()[i]] = (*results)[i].tensor.Clone();
      pool_.push_back(node->outputs()[i]);
    }
  }
  if (tame) return node->output(0);
  graph_.RemoveNode(node);
  return nullptr;
}

Value* Grower::Const(const Tensor& tensor) {
  Value* v = graph_.AddConstant(tensor);
  samples_[v] = tensor;
  return v;
}

Value* Grower::Scalar(double v, DType dtype) {
  return Const(Tensor::Of(dtype, random_.Chance(0.7) ? Dims{} : Dims{1}, {v}));
}

Value* Grower::Weights(const Dims& dims, double low, double high) {
  std::vector<double> values;
  for (int64_t i = 0; i < CountOf(dims); ++i) values.push_back(random_.Real(low, high));
  return Const(Tensor::Of(DType::kF32, dims, values));
}

Value* Grower::Float(int low, int high) {
  for (int tries = 0; tries < 12 && !pool_.empty(); ++tries) {
    const int size = static_cast<int>(pool_.size());
    const int back = random_.Below(random_.Chance(0.6) ? std::min(size, 4) : size);
    Value* v = pool_[static_cast<size_t>(size - 1 - back)];
    const int rank = v->type.shape.rank();
    if (v->type.dtype == DType::kF32 && rank >= low && rank <= high) return v;
  }
  return nullptr;
}

Value* Grower::Exact(int low, int high) {
  for (int tries = 0; tries < 6; ++tries)
    if (Value* v = Float(low, high); v && exact_.count(v)) return v;
  return nullptr;
}

Value* Grower::Operand(Value* x) {
  static const std::vector<double> kNumbers = {0, 1, -1, 2, 0.5, 3, -0.5, 0.25, 1.5};
  if (!x) return nullptr;
  const int rank = x->type.shape.rank();
  switch (random_.Below(7)) {
    case 0:
    case 1:
      return Scalar(random_.Pick(kNumbers));
    case 2:
      return x;
    case 3:  // a constant vector along the last axis
      if (rank >= 1 && SizeOf(x, -1) > 0) return Weights({SizeOf(x, -1)}, 0.5, 2);
      break;
    case 4:  // a constant vector along the channels (axis 1)
      if (rank >= 3 && SizeOf(x, 1) > 0) {
        Dims dims(static_cast<size_t>(rank - 1), 1);
        dims[0] = SizeOf(x, 1);
        return Weights(dims, 0.5, 2);
      }
      break;
    case 5:
      for (int tries = 0; tries < 8; ++tries)
        if (Value* y = Float(rank, rank); y && y != x && SameType(x, y)) return y;
      break;
    default:
      for (int tries = 0; tries < 8; ++tries)
        if (Value* y = Float(); y && y != x && BroadcastsInto(y, x)) return y;
  }
  return Scalar(random_.Pick(kNumbers));
}

int64_t Grower::SizeOf(const Value* v, int axis) const {
  const Shape& shape = v->type.shape;
  if (axis >= shape.rank() || axis < -shape.rank() || !shape.ranked) return -1;
  return shape[axis].known() ? shape[axis].value() : -1;
}

double Grower::Least(const Value* v) const {
  double least = 1e30;
  for (double e : ToDoubles(samples_.at(v))) least = std::min(least, e);
  return least;
}

double Grower::Greatest(const Value* v) const {
  double greatest = -1e30;
  for (double e : ToDoubles(samples_.at(v))) greatest = std::max(greatest, e);
  return greatest;
}

void Grower::Grow(int steps) {
  const auto& makers = Makers();
  for (int i = 0; i < steps; ++i)
    makers[static_cast<size_t>(random_.Below(static_cast<int>(makers.size())))](*this);
}

std::vector<Value*> Grower::Leaves() const {
  std::vector<Value*> leaves;
  for (Value* v : pool_)
    if (v->producer && v->unused()) leaves.push_back(v);
  return leaves;
}

}  // namespace tern
