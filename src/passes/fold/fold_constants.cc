#include "passes/fold/fold_constants.h"

#include <algorithm>

#include "passes/rewrite/constants.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

constexpr size_t kSmall =
    size_t{1} << 20;  // bytes; a result up to this size is folded, however small its inputs are

bool Eligible(const Node& node) {
  const bool reads =
      std::any_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return v; });
  // A Dequantize is not folded, because its result is larger than the quantized weights.
  return reads && IsConstantNode(node) && !IsOp(node, "Dequantize");
}

// True if every reader of `v` uses it as weights. Views and Transposes between `v` and the reader are
// allowed.
bool IsWeights(const Value& v) {
  const auto is_weight_read = [&](const std::pair<Node*, int>& use) {
    const Node& reader = *use.first;
    if (reader.op->HasRole(use.second, Port::Role::kWeight)) return true;
    return use.second == 0 && (IsView(reader) || IsOp(reader, "Transpose")) && IsWeights(*reader.output(0));
  };
  return v.output_uses == 0 && !v.uses.empty() && std::all_of(v.uses.begin(), v.uses.end(), is_weight_read);
}

bool Affordable(const Node& node, const PassContext& context) {
  size_t in = 0, out = 0;
  for (const Value* v : node.inputs())
    if (v) in += v->constant.bytes();
  for (const Value* v : node.outputs()) {
    if (!v->type.tensor()) return false;
    if (!v->type.shape.fully_known() || v->type.dtype == DType::kInvalid) return in <= kSmall;
    const auto count = CheckedCount(v->type.shape.Concrete(), v->type.dtype);
    if (!count) return false;
    out += BytesOf(v->type.dtype, static_cast<size_t>(*count));
  }
  if (out > context.fold_limit) return false;
  if (out > kSmall && out > 2 * in && !IsWeights(*node.output(0))) return false;
  return WorkOf(node) <= context.fold_operations;
}

bool FoldNode(Node& node) {
  auto results = EvaluateConstantNode(node);
  // A node whose evaluation fails is not folded. A run reports the error if it executes the node.
  if (!results.ok() || !*results) return false;
  Graph& graph = *node.graph;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* old = node.outputs()[i];
    if (!old->unused()) graph.ReplaceUses(old, graph.AddConstant((**results)[i], old->name));
  }
  RemoveUnread(node);
  return true;
}

int Visit(Graph& graph, PassContext& context) {
  int folded = 0;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = **it++;
    for (const auto& sub : node.subgraphs()) folded += Visit(*sub, context);
    if (Eligible(node) && Affordable(node, context)) folded += FoldNode(node);
  }
  return folded;
}

// Returns the content of `v` as a tensor. Returns nullopt if `v` has no content or if an element is
// symbolic.
std::optional<Tensor> KnownContent(const Value& v) {
  if (!v.content || v.is_constant() || !v.type.tensor() || !IsInt(v.type.dtype)) return std::nullopt;
  if (!v.type.shape.ranked || v.type.shape.rank() > 1) return std::nullopt;
  std::vector<int64_t> elements;
  for (const Dim& d : *v.content) {
    if (!d.known()) return std::nullopt;
    elements.push_back(d.value());
  }
  Dims dims;
  if (v.type.shape.rank() == 1) dims.push_back(static_cast<int64_t>(elements.size()));
  Tensor t(v.type.dtype, dims);
  FromLongs(elements, t);
  return t;
}

int VisitShapes(Graph& graph) {
  int folded = 0;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = **it++;
    for (const auto& sub : node.subgraphs()) folded += VisitShapes(*sub);
    if (node.outputs().size() != 1 || !node.subgraphs().empty()) continue;
    Value* old = node.output(0);
    const auto known = KnownContent(*old);
    if (!known || old->unused()) continue;
    graph.ReplaceUses(old, graph.AddConstant(*known, old->name));
    RemoveUnread(node);
    ++folded;
  }
  return folded;
}

}  // namespace

Result<int> FoldConstants(Graph& graph, PassContext& context) { return Visit(graph, context); }

Result<int> FoldShapes(Graph& graph, PassContext&) { return VisitShapes(graph); }

}  // namespace tern
