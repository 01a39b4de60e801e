#include "compress/quantize/placement.h"

#include <algorithm>

#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

bool IsRealValue(const Value* v) { return v && v->type.tensor() && v->type.dtype == DType::kF32; }

bool IsBounds(const Node& node) {
  if (IsOp(node, "Unary", "relu")) return true;
  if (!IsOp(node, "Clip")) return false;
  for (int i : {1, 2})
    if (node.input(i) && !ScalarOf(node.input(i))) return false;
  return true;
}

// Returns whether the node is a function of one operand, which integer kernels compute by a table of results.
bool IsFunction(const Node& node) {
  if (IsOp(node, "Activation")) return true;
  for (const char* kind : {"sigmoid", "tanh", "hardswish", "softplus", "softsign", "elu", "mish", "abs"})
    if (IsOp(node, "Unary", kind)) return true;
  return false;
}

bool IsArithmetic(const Node& node) {
  return IsOp(node, "Binary", "add") || IsOp(node, "Binary", "mul") || IsOp(node, "Pool", "average") ||
         IsOp(node, "GlobalPool", "average") || IsBounds(node) || IsFunction(node);
}

// True if the node can work on integers, provided that its operands have grids.
bool CanFollow(const Node& node) {
  if (!node.subgraphs().empty() || node.outputs().size() != 1 || !IsRealValue(node.output(0))) return false;
  if (!IsArithmetic(node) && !OnlyMoves(node)) return false;
  const std::vector<Value*> data = DataInputs(node);
  return !data.empty() && std::all_of(data.begin(), data.end(),
                                      [](const Value* v) { return IsRealValue(v) && !v->is_constant(); });
}

// Returns "" if the node is a Conv or MatMul whose weights can become integers, else the reason why not.
// Returns null for other ops.
const char* WhyNoLayer(const Node& node) {
  const bool matmul = IsOp(node, "MatMul");
  if (!matmul && !IsOp(node, "Conv")) return nullptr;
  const Value* w = node.input(1);
  if (!IsRealValue(node.input(0)) || !IsRealValue(w)) return "its operands are not f32";
  if (!w->is_constant()) return "its weights are not constant";
  if (node.input(0)->is_constant()) return "its operand is constant";
  if (w->constant.size() == 0) return "its weights are empty";
  if (!AllFinite(w)) return "its weights are not finite";
  if (matmul && w->type.shape.rank() != 2) return "its weights are not a matrix";
  if (matmul && node.attrs.Float("alpha") != 1) return "its product has a factor";
  if (!NoEpilogue(node) || ChannelsLast(node)) return "it is already fused";
  const Value* bias = node.input(2);
  const int64_t outputs = w->constant.dim(matmul && !node.attrs.Bool("transpose_b") ? 1 : 0);
  if (bias && (!IsRealValue(bias) || !bias->is_constant() || bias->constant.rank() != 1 ||
               bias->constant.dim(0) != outputs || !AllFinite(bias)))
    return "its bias is not one finite constant per output channel";
  return "";
}

class Placer {
 public:
  Placer(const Graph& graph, const std::map<std::string, std::string>& keep) : graph_(graph), keep_(keep) {}

  Placement Run() {
    for (const auto& node : graph_.nodes()) Consider(*node);
    Demand();
    for (const auto& node : graph_.nodes())
      if (follows_.count(node.get()) && Continues(*node)) result_.integer.insert(node.get());
    for (auto it = graph_.nodes().rbegin(); it != graph_.nodes().rend(); ++it) TakeEpilogue(**it);
    std::reverse(result_.layers.begin(), result_.layers.end());
    FindValues();
    Group();
    return std::move(result_);
  }

 private:
  void Consider(Node& node) {
    const char* why = WhyNoLayer(node);
    const std::string name = NameOf(node);
    if (why && keep_.count(name))
      result_.floats[name] = keep_.at(name);
    else if (why && *why)
      result_.floats[name] = why;
    else if (why)
      layers_.insert(&node), result_.integer.insert(&node);
    else if (CanFollow(node))
      follows_.insert(&node);
  }

  // Finds the values that a layer reads, directly or through nodes that can work on integers.
  void Demand() {
    for (auto it = graph_.nodes().rbegin(); it != graph_.nodes().rend(); ++it) {
      const Node& node = **it;
      const bool follows = follows_.count(&node) && demanded_.count(node.output(0));
      if (layers_.count(&node) || follows)
        for (const Value* v : DataInputs(node)) demanded_.insert(v);
    }
  }

  // True if a layer needs the node's result, and an operand is a graph input or made by an integer node.
  bool Continues(const Node& node) const {
    if (!demanded_.count(node.output(0))) return false;
    for (const Value* v : DataInputs(node))
      if (v->is_input || (v->producer && result_.integer.count(v->producer))) return true;
    return false;
  }

  // Returns the only reader of v, if it works on integers. Otherwise returns null.
  Node* IntegerReader(const Value* v) const {
    Node* reader = OnlyReader(v);
    return reader && result_.integer.count(reader) ? reader : nullptr;
  }

  // True if the layer's result v can be added to the other operand of `sum` before it is rounded.
  bool CanTakeSum(const Node& sum, const Value* v) const {
    if (!IsOp(sum, "Binary", "add") || taken_.count(&sum) || sum.input(0) == sum.input(1)) return false;
    const Value* other = sum.input(sum.input(0) == v ? 1 : 0);
    return SameShape(v, other) && SameShape(v, sum.output(0));
  }

  // Appends the sum and the Relu or Clip after a layer to its epilogue. After a sum, product or pooling, a
  // Relu or Clip is only marked as part of it. Values between them get no quantization parameters. Of two
  // layers whose results are added, the later one takes the sum, because nodes are visited from last to
  // first.
  void TakeEpilogue(Node& node) {
    const bool layer = layers_.count(&node) > 0;
    if (!layer && !(result_.integer.count(&node) && IsArithmetic(node) && !IsBounds(node))) return;
    Layer made{&node, {}, node.output(0)};
    const auto take = [&](Node* next) {
      taken_.insert(next);
      inner_.insert(made.result);
      made.epilogue.push_back(next);
      made.result = next->output(0);
    };
    if (Node* next = IntegerReader(made.result); layer && next && CanTakeSum(*next, made.result)) take(next);
    if (Node* next = IntegerReader(made.result); next && IsBounds(*next) && !IsFunction(node)) take(next);
    if (layer) result_.layers.push_back(std::move(made));
  }

  void FindValues() {
    std::unordered_set<const Value*> read;
    for (const auto& node : graph_.nodes())
      if (result_.integer.count(node.get()))
        for (const Value* v : DataInputs(*node)) read.insert(v);
    const auto add = [&](Value* v) {
      if (read.count(v) && !inner_.count(v)) result_.values.push_back(v);
    };
    for (Value* v : graph_.inputs()) add(v);
    for (const auto& node : graph_.nodes())
      for (Value* v : node->outputs()) add(v);
  }

  // Values before and after a node that only moves elements share a grid.
  void Group() {
    std::unordered_map<const Value*, const Value*> parent;
    const auto root = [&](const Value* v) {
      while (parent.count(v)) v = parent.at(v);
      return v;
    };
    std::unordered_set<const Value*> gridded(result_.values.begin(), result_.values.end());
    for (const auto& node : graph_.nodes()) {
      if (!result_.integer.count(node.get()) || !OnlyMoves(*node) || !gridded.count(node->output(0)))
        continue;
      for (const Value* v : DataInputs(*node))
        if (gridded.count(v) && root(v) != root(node->output(0))) parent[root(v)] = root(node->output(0));
    }
    std::unordered_map<const Value*, size_t> index;
    for (const Value* v : result_.values)
      result_.group[v] = index.emplace(root(v), index.size()).first->second;
    result_.groups = index.size();
  }

  const Graph& graph_;
  const std::map<std::string, std::string>& keep_;
  Placement result_;
  std::unordered_set<const Node*> layers_, follows_, taken_;
  std::unordered_set<const Value*> demanded_, inner_;
};

}  // namespace

std::string NameOf(const Node& node) {
  return node.name.empty() ? StrCat("%", node.output(0)->name) : node.name;
}

std::string Layer::name() const { return NameOf(*node); }

bool OnlyMoves(const Node& node) {
  return node.op->keeps_scale && node.op->keeps_scale(node.attrs) && node.outputs().size() == 1;
}

std::vector<Value*> DataInputs(const Node& node) {
  if (IsOp(node, "Binary")) return {node.input(0), node.input(1)};
  if (!OnlyMoves(node)) return {node.input(0)};
  const Movement moves = node.op->movement.value_or(Movement{});
  const auto first = static_cast<size_t>(moves.first);
  const size_t end =
      moves.count == Movement::kAllInputs ? node.inputs().size() : first + static_cast<size_t>(moves.count);
  return {node.inputs().begin() + static_cast<int64_t>(first),
          node.inputs().begin() + static_cast<int64_t>(end)};
}

Placement Place(const Graph& graph, const std::map<std::string, std::string>& keep) {
  return Placer(graph, keep).Run();
}

}  // namespace tern::compress
