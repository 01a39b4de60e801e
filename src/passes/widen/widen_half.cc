#include "passes/widen/widen_half.h"

#include <algorithm>
#include <unordered_map>

#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

bool IsHalf(const Type& type) {
  return type.tensor() && (type.dtype == DType::kF16 || type.dtype == DType::kBF16);
}

Tensor Widened(const Tensor& t) {
  const Tensor from = t.Contiguous();
  Tensor to(DType::kF32, from.dims());
  const auto* x = from.data<const uint16_t>();
  float* y = to.data<float>();
  const bool half = from.dtype() == DType::kF16;
  for (int64_t i = 0; i < from.size(); ++i) y[i] = half ? HalfToFloat(x[i]) : BFloatToFloat(x[i]);
  return to;
}

bool OnlyTensors(const Node& node) {
  const auto tensor = [](const Value* v) { return !v || v->type.tensor(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), tensor) &&
         std::all_of(node.outputs().begin(), node.outputs().end(), tensor);
}

// The op says so, or types cross into nested graphs, sequences and optionals.
bool StaysNarrow(const Node& node) {
  return *node.op->half == HalfRule::kKeep || !OnlyTensors(node) || !node.subgraphs().empty();
}

class Widener {
 public:
  Status Visit(Graph& graph) {
    around_.emplace_back(&graph, nullptr);
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      Node& node = **it++;
      around_.back().second = &node;
      for (const auto& sub : node.subgraphs()) TERN_TRY(Visit(*sub));
      TERN_TRY(VisitNode(node));
    }
    around_.back().second = nullptr;
    NarrowOutputs(graph);
    around_.pop_back();
    return {};
  }

  int changed() const { return changed_; }

 private:
  Status VisitNode(Node& node) {
    if (*node.op->half == HalfRule::kAnyType) return {};
    if (!StaysNarrow(node) && Wants(node)) return Widen(node);
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (was_.count(node.inputs()[i])) node.SetInput(static_cast<int>(i), Narrow(node.inputs()[i]));
    return {};
  }

  // It has a narrow operand, does more than move it, and its op can do the same in f32.
  bool Wants(const Node& node) const {
    bool narrow = false, wide = false;
    for (const Value* v : node.inputs()) {
      narrow |= v && IsHalf(v->type);
      wide |= was_.count(v) != 0;
    }
    return (wide || (narrow && *node.op->half != HalfRule::kMove)) && FollowsInF32(node);
  }

  static bool FollowsInF32(const Node& node) {
    std::vector<InferInput> inputs;
    for (const Value* v : node.inputs()) {
      InferInput in;
      if (v) in = {true, v->type, v->constant, v->content};
      if (v && IsHalf(v->type)) in.type.dtype = DType::kF32, in.constant = Tensor();
      inputs.push_back(std::move(in));
    }
    InferContext context(*node.op, std::move(inputs), static_cast<int>(node.outputs().size()));
    if (!RunInfer(*node.op, node.attrs, context).ok()) return false;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Type &before = node.outputs()[i]->type, &after = context.outputs()[i].type;
      if (before.kind != after.kind || after.dtype != (IsHalf(before) ? DType::kF32 : before.dtype))
        return false;
    }
    return true;
  }

  Status Widen(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (Value* v = node.inputs()[i]; v && IsHalf(v->type)) node.SetInput(static_cast<int>(i), Wide(v));
    for (Value* v : node.outputs())
      if (IsHalf(v->type)) was_[v] = v->type.dtype;
    ++changed_;
    return InferNode(node);
  }

  // A number that the model rounds only because its next op is narrow need not be rounded.
  Value* Wide(Value* v) {
    if (Value* exact = BeforeCast(v)) return exact;
    Value*& wide = wide_[v];
    if (wide) return wide;
    wide = v->is_constant() ? v->graph->AddConstant(Widened(v->constant), v->name) : CastOf(v, DType::kF32);
    return wide;
  }

  static Value* BeforeCast(const Value* v) {
    const bool cast = v->producer && v->producer->op->name == "Cast";
    return cast && v->producer->input(0)->type.dtype == DType::kF32 ? v->producer->input(0) : nullptr;
  }

  Value* Narrow(Value* v) {
    Value*& narrow = narrow_[v];
    if (!narrow) narrow = CastOf(v, was_.at(v));
    return narrow;
  }

  // Beside the value: before the node at hand, or the one whose nested graph is being visited.
  Value* CastOf(Value* v, DType to) {
    const auto place = std::find_if(around_.begin(), around_.end(),
                                    [&](const auto& level) { return level.first == v->graph; });
    const OpDef& op = *FindOp("Cast");
    Node* cast = v->graph->AddNode(op, WithAttrs(op.defaults, {{"to", to}}), {v}, 1, place->second);
    if (v->producer) cast->name = v->producer->name, cast->origin = v->producer->origin;
    cast->rule = "WidenHalf";
    cast->output(0)->type = Type::TensorOf(to, v->type.shape);
    return cast->output(0);
  }

  // The name of an output goes with the type that is promised.
  void NarrowOutputs(Graph& graph) {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      Value* v = graph.outputs()[i];
      if (!v || !was_.count(v)) continue;
      Value* narrow = Narrow(v);
      graph.ReplaceOutput(static_cast<int>(i), narrow);
      if (narrow->graph == &graph && narrow->name.empty()) std::swap(narrow->name, v->name);
    }
  }

  std::vector<std::pair<Graph*, Node*>> around_;  // the graphs being visited, outermost first, and where
  std::unordered_map<const Value*, DType> was_;   // values that are f32 now
  std::unordered_map<const Value*, Value*> wide_, narrow_;
  int changed_ = 0;
};

}  // namespace

Result<int> WidenHalf(Graph& graph, PassContext&) {
  Widener widener;
  TERN_TRY(widener.Visit(graph));
  return widener.changed();
}

}  // namespace tern
