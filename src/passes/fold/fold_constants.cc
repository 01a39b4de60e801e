#include "passes/fold/fold_constants.h"

#include <algorithm>

#include "ir/evaluate.h"
#include "passes/rewrite/rewrite.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

constexpr size_t kSmall = size_t{1} << 20;  // a result up to this is kept whatever it was made from

bool Eligible(const Node& node) {
  if (!node.op->Is(kPure) || node.op->Is(kRandom) || !node.subgraphs().empty()) return false;
  if (IsOp(node, "Dequantize")) return false;  // the short form is worth keeping
  bool any = false;
  for (const Value* v : node.inputs()) {
    if (v && !v->is_constant()) return false;
    any |= v != nullptr;
  }
  return any;
}

// Multiplications per element of the result, for the ops where that matters.
double WorkPerElement(const Node& node) {
  if (IsOp(node, "MatMul") && node.input(0)->constant.rank() > 0)
    return static_cast<double>(node.input(0)->constant.dim(-1));
  double work = 8;
  if (IsOp(node, "Conv") || IsOp(node, "ConvTranspose") || IsOp(node, "Einsum") || IsOp(node, "Rnn"))
    for (const Value* v : node.inputs())
      if (v) work = std::max(work, static_cast<double>(v->constant.size()));
  return work;
}

// Which input holds a node's weights; kernels prepare them once where they are constant. -1: none.
int WeightsInput(const Node& node) {
  return IsOp(node, "Conv") || IsOp(node, "ConvTranspose") || IsOp(node, "MatMul") ? 1 : -1;
}

// Read as weights only, at once or through other nodes that read constants beside it.
bool IsWeights(const Value& v) {
  const auto is_read_so = [&](const std::pair<Node*, int>& use) {
    const Node& reader = *use.first;
    if (use.second == WeightsInput(reader)) return true;
    return use.second == 0 && (IsView(reader) || IsOp(reader, "Transpose")) && IsWeights(*reader.output(0));
  };
  return v.output_uses == 0 && !v.uses.empty() && std::all_of(v.uses.begin(), v.uses.end(), is_read_so);
}

bool Affordable(const Node& node, const PassContext& context) {
  size_t in = 0, out = 0;
  double elements = 0;
  for (const Value* v : node.inputs())
    if (v) in += v->constant.bytes();
  for (const Value* v : node.outputs()) {
    if (!v->type.tensor()) return false;
    if (!v->type.shape.fully_known() || v->type.dtype == DType::kInvalid) return in <= kSmall;
    const auto count = CheckedCount(v->type.shape.Concrete(), v->type.dtype);
    if (!count) return false;
    elements += static_cast<double>(*count);
    out += BytesOf(v->type.dtype, static_cast<size_t>(*count));
  }
  if (out > context.fold_limit) return false;
  if (out > kSmall && out > 2 * in && !IsWeights(*node.output(0))) return false;
  return elements * WorkPerElement(node) <= context.fold_operations;
}

// Null unless every output became a tensor.
Result<int> FoldNode(Node& node) {
  std::vector<Datum> held;
  std::vector<const Datum*> data;
  held.reserve(node.inputs().size());
  for (const Value* v : node.inputs()) {
    if (v) held.emplace_back(v->constant);
    data.push_back(v ? &held.back() : nullptr);
  }
  auto made = EvaluateNode(node, data);
  // An op that fails on these constants fails when it is run, or never is: not our business.
  if (!made.ok()) return 0;
  for (const Datum& d : *made)
    if (!d.is_tensor()) return 0;
  Graph& graph = *node.graph;
  for (size_t i = 0; i < made->size(); ++i) {
    Value* old = node.outputs()[i];
    if (old->unused()) continue;
    Value* constant = graph.AddConstant((*made)[i].tensor, old->name);
    graph.ReplaceUses(old, constant);
  }
  RemoveUnread(node);
  return 1;
}

Result<int> Visit(Graph& graph, PassContext& context) {
  int folded = 0;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = **it++;
    for (const auto& sub : node.subgraphs()) {
      TERN_ASSIGN(const int inside, Visit(*sub, context));
      folded += inside;
    }
    if (!Eligible(node) || !Affordable(node, context)) continue;
    TERN_ASSIGN(const int one, FoldNode(node));
    folded += one;
  }
  return folded;
}

// The content as a tensor of the value's type; nothing when an element is a symbol.
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
