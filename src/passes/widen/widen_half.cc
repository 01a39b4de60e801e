#include "passes/widen/widen_half.h"

#include <algorithm>
#include <unordered_map>

#include "passes/rewrite/set_attrs.h"
#include "passes/widen/half_node.h"

namespace tern {
namespace {

Tensor Widened(const Tensor& t) {
  const Tensor from = t.Contiguous();
  Tensor to(DType::kF32, from.dims());
  const auto* x = from.data<const uint16_t>();
  float* y = to.data<float>();
  const bool half = from.dtype() == DType::kF16;
  for (int64_t i = 0; i < from.size(); ++i) y[i] = half ? HalfToFloat(x[i]) : BFloatToFloat(x[i]);
  return to;
}

class Widener {
 public:
  Status Visit(Graph& graph) {
    enclosing_.emplace_back(&graph, nullptr);
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      Node& node = **it++;
      enclosing_.back().second = &node;
      for (const auto& sub : node.subgraphs()) TERN_TRY(Visit(*sub));
      TERN_TRY(VisitNode(node));
    }
    enclosing_.back().second = nullptr;
    CastOutputs(graph);
    enclosing_.pop_back();
    return {};
  }

  int changed() const { return changed_; }

 private:
  Status VisitNode(Node& node) {
    if (*node.op->half == HalfRule::kAnyType) return {};
    if (ShouldWiden(node)) return Widen(node);
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (half_types_.count(node.inputs()[i])) node.SetInput(static_cast<int>(i), ToHalf(node.inputs()[i]));
    return {};
  }

  // True if the node computes in f16 or bf16, or if it has a widened operand and its op accepts f32.
  bool ShouldWiden(const Node& node) const {
    if (ComputesInHalf(node)) return true;
    const bool widened = std::any_of(node.inputs().begin(), node.inputs().end(),
                                     [&](const Value* v) { return half_types_.count(v) != 0; });
    return widened && !StaysHalf(node) && AcceptsF32(node);
  }

  Status Widen(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (Value* v = node.inputs()[i]; v && IsHalf(v->type)) node.SetInput(static_cast<int>(i), ToF32(v));
    for (Value* v : node.outputs())
      if (IsHalf(v->type)) half_types_[v] = v->type.dtype;
    ++changed_;
    return InferNode(node);
  }

  // Returns v in f32. If v is a Cast of an f32 value, returns that value, because the model needs the Cast
  // only to call a half-precision op.
  Value* ToF32(Value* v) {
    if (Value* exact = BeforeCast(v)) return exact;
    Value*& f32 = f32_[v];
    if (f32) return f32;
    f32 = v->is_constant() ? v->graph->AddConstant(Widened(v->constant), v->name) : CastOf(v, DType::kF32);
    return f32;
  }

  static Value* BeforeCast(const Value* v) {
    const bool cast = v->producer && v->producer->op->name == "Cast";
    return cast && v->producer->input(0)->type.dtype == DType::kF32 ? v->producer->input(0) : nullptr;
  }

  // Returns v, which is f32 now, cast to the type that v has in the model.
  Value* ToHalf(Value* v) {
    Value*& half = half_[v];
    if (!half) half = CastOf(v, half_types_.at(v));
    return half;
  }

  // Inserts the Cast into the graph of v, before the current node of that graph (see enclosing_).
  Value* CastOf(Value* v, DType to) {
    const auto enclosing = std::find_if(enclosing_.begin(), enclosing_.end(),
                                        [&](const auto& level) { return level.first == v->graph; });
    const OpDef& op = *FindOp("Cast");
    Node* cast = v->graph->AddNode(op, WithAttrs(op.defaults, {{"to", to}}), {v}, 1, enclosing->second);
    if (v->producer) cast->name = v->producer->name, cast->origin = v->producer->origin;
    cast->rule = "WidenHalf";
    cast->output(0)->type = Type::TensorOf(to, v->type.shape);
    return cast->output(0);
  }

  // Casts outputs back to their declared types. The Cast takes the output's name.
  void CastOutputs(Graph& graph) {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      Value* v = graph.outputs()[i];
      if (!v || !half_types_.count(v)) continue;
      Value* half = ToHalf(v);
      graph.ReplaceOutput(static_cast<int>(i), half);
      if (half->graph == &graph && half->name.empty()) std::swap(half->name, v->name);
    }
  }

  // The graph that is being visited and its enclosing graphs, outermost first. Each has its current node.
  // In an enclosing graph, the current node is the node with the nested graph.
  std::vector<std::pair<Graph*, Node*>> enclosing_;
  std::unordered_map<const Value*, DType> half_types_;   // former types of values that are now f32
  std::unordered_map<const Value*, Value*> f32_, half_;  // Casts to f32 and to half precision, by their input
  int changed_ = 0;
};

}  // namespace

Result<int> WidenHalf(Graph& graph, PassContext& context) {
  context.halves_are_wide = true;
  Widener widener;
  TERN_TRY(widener.Visit(graph));
  return widener.changed();
}

}  // namespace tern
