#include "runtime/model/fold.h"

#include <unordered_set>

#include "runtime/exec/run_once.h"

namespace tern {

bool Foldable(const Node& node) {
  return node.op->Is(kPure) && !node.op->Is(kRandom) && !node.op->Is(kControlFlow) &&
         node.subgraphs().empty();
}

namespace {

// Results of at most this many bytes are folded even if the inputs are much smaller.
constexpr size_t kSmall = size_t{16} << 20;
// Larger results are folded only if they have at most kGrowth times as many bytes as the inputs. A cast from
// i4 to f32 has this ratio.
constexpr size_t kGrowth = 8;

class Folder {
 public:
  Folder(size_t budget, const Target& target, const Workers& workers)
      : remaining_(budget), target_(target), workers_(workers) {}

  void Visit(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (Foldable(*node)) TryFold(*node);
      for (const auto& sub : node->subgraphs()) Visit(*sub);
    }
  }

  FoldedValues Finish(const Graph& graph) {
    FindReadValues(graph);
    for (auto it = folded_.begin(); it != folded_.end();)
      it = read_.count(it->first) ? std::next(it) : folded_.erase(it);
    return std::move(folded_);
  }

 private:
  const Tensor* Known(const Value* v) const {
    if (v->is_constant()) return &v->constant;
    const auto it = folded_.find(v);
    return it == folded_.end() ? nullptr : &it->second;
  }

  void TryFold(const Node& node) {
    std::vector<InferInput> inputs;
    size_t bytes = 0;
    for (const Value* v : node.inputs()) {
      const Tensor* t = v ? Known(v) : nullptr;
      if (v && !t) return;
      inputs.emplace_back();
      if (!v) continue;
      inputs.back() = {true, Type::TensorOf(t->dtype(), Shape::Of(t->dims())), *t, std::nullopt};
      bytes += t->bytes();
    }
    auto outputs = InferOutputs(node, inputs);
    if (!outputs.ok() || !Affordable(*outputs, bytes)) return;
    if (node.op->Is(kView)) return Reshape(node, inputs[0].constant, (*outputs)[0].type);
    Evaluate(node, inputs);
  }

  bool Affordable(const std::vector<InferOutput>& outputs, size_t input_bytes) const {
    size_t bytes = 0;
    for (const InferOutput& out : outputs) {
      if (!out.type.tensor()) return false;
      if (!out.type.shape.fully_known() || out.type.dtype == DType::kInvalid)
        return input_bytes <= kSmall / kGrowth;
      const auto count = CheckedCount(out.type.shape.Concrete(), out.type.dtype);
      if (!count) return false;
      bytes += BytesOf(out.type.dtype, static_cast<size_t>(*count));
    }
    return bytes <= remaining_ && (bytes <= kSmall || bytes <= input_bytes * kGrowth);
  }

  void Reshape(const Node& node, const Tensor& x, const Type& type) {
    if (!type.shape.fully_known()) return;
    folded_[node.output(0)] = Tensor::View(x.Contiguous().buffer(), type.dtype, type.shape.Concrete());
  }

  void Evaluate(const Node& node, const std::vector<InferInput>& inputs) {
    DatumList data(inputs.size());
    std::vector<const Datum*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].present) data[i] = Datum(inputs[i].constant);
      pointers.push_back(inputs[i].present ? &data[i] : nullptr);
    }
    auto result = Guard([&] { return RunOnce(node, pointers, target_, workers_); });
    if (!result.ok()) return;
    for (size_t i = 0; i < result->size(); ++i) {
      if (!(*result)[i].is_tensor()) return;
      remaining_ -= std::min(remaining_, (*result)[i].tensor.bytes());
    }
    for (size_t i = 0; i < result->size(); ++i) folded_[node.outputs()[i]] = (*result)[i].tensor;
  }

  void FindReadValues(const Graph& graph) {
    read_.insert(graph.outputs().begin(), graph.outputs().end());
    for (const auto& node : graph.nodes()) {
      if (!node->outputs().empty() && folded_.count(node->output(0))) continue;
      read_.insert(node->inputs().begin(), node->inputs().end());
      for (const auto& sub : node->subgraphs()) FindReadValues(*sub);
    }
  }

  size_t remaining_;
  const Target& target_;
  const Workers& workers_;
  FoldedValues folded_;
  std::unordered_set<const Value*> read_;
};

}  // namespace

FoldedValues FoldConstants(const Graph& graph, size_t budget, const Target& target, const Workers& workers) {
  Folder folder(budget, target, workers);
  folder.Visit(graph);
  return folder.Finish(graph);
}

}  // namespace tern
