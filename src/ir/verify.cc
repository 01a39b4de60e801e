#include "ir/verify.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/state.h"

namespace tern {
namespace {

class Verifier {
 public:
  Status Check(const Graph& graph) {
    for (const auto& v : graph.values()) {
      if (v->graph != &graph) return Broken("value '", v->name, "' belongs to another graph");
      if (v->is_constant()) TERN_TRY(CheckConstant(*v));
    }
    for (const Value* v : graph.inputs()) {
      if (!v->is_input || v->producer)
        return Broken("input '", v->name, "' is not marked as an input, or is a node's output");
      visible_.insert(v);
    }
    for (const auto& node : graph.nodes()) TERN_TRY(CheckNode(*node, graph));
    for (const Value* v : graph.outputs()) {
      if (!v || !visible_.count(v))
        return Broken("output '", v ? v->name : "", "' of graph '", graph.name,
                      "' is not defined in it or in an enclosing graph");
      ++outputs_[v];
    }
    if (Status status = CheckStates(graph); !status.ok()) return Broken(status.message());
    return {};
  }

  // Check must have visited all readers before.
  Status CheckUses(const Graph& graph) {
    for (const auto& v : graph.values()) TERN_TRY(CheckUses(*v));
    for (const auto& node : graph.nodes())
      for (const auto& sub : node->subgraphs()) TERN_TRY(CheckUses(*sub));
    return {};
  }

 private:
  template <class... A> static Status Broken(const A&... a) { return InvalidModel("broken graph: ", a...); }

  Status CheckConstant(const Value& v) {
    visible_.insert(&v);
    if (v.producer || v.is_input)
      return Broken("constant '", v.name, "' is also an input or a node's output");
    if (!v.type.tensor() || v.type.dtype != v.constant.dtype() ||
        !(v.type.shape == Shape::Of(v.constant.dims())))
      return Broken("constant '", v.name, "' is ", v.constant.Describe(), " but has type ",
                    v.type.ToString());
    return {};
  }

  // Checks that the use list has one entry per read and that no entry occurs twice.
  Status CheckUses(const Value& v) {
    auto uses = v.uses;
    std::sort(uses.begin(), uses.end());
    const bool distinct = std::adjacent_find(uses.begin(), uses.end()) == uses.end();
    const bool all_read = std::all_of(uses.begin(), uses.end(),
                                      [&](const auto& use) { return use.first->input(use.second) == &v; });
    const auto it = reads_.find(&v);
    const size_t reads = it == reads_.end() ? 0 : it->second;
    if (!distinct || !all_read || uses.size() != reads)
      return Broken("the use list of '", v.name, "' does not match its ", reads, " reads");
    const auto listed = outputs_.find(&v);
    if (v.output_uses != (listed == outputs_.end() ? 0 : listed->second))
      return Broken("'", v.name, "' has a wrong count of its uses as a graph output");
    return {};
  }

  Status CheckNode(const Node& node, const Graph& graph) {
    if (node.graph != &graph || !node.op) return Broken(node.Describe(), " belongs to another graph");
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* v = node.inputs()[i];
      if (!v) continue;
      if (!visible_.count(v))
        return Broken(node.Describe(), " reads '", v->name, "' before it is defined, or out of scope");
      ++reads_[v];
    }
    TERN_TRY(CheckCounts(node));
    for (const auto& sub : node.subgraphs()) {
      if (sub->parent != &graph) return Broken("a subgraph of ", node.Describe(), " has another parent");
      TERN_TRY(Check(*sub));
      for (const auto& v : sub->values()) visible_.erase(v.get());  // the subgraph's scope ends here
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* v = node.outputs()[i];
      if (v->producer != &node || v->output != static_cast<int>(i))
        return Broken("output ", i, " of ", node.Describe(), " has another producer");
      if (!visible_.insert(v).second) return Broken("'", v->name, "' is defined twice");
    }
    return {};
  }

  static Status CheckCounts(const Node& node) {
    const OpDef& op = *node.op;
    const auto fits = [](const std::vector<Port>& ports, size_t count) {
      const bool variadic = !ports.empty() && ports.back().arity == Port::Arity::kVariadic;
      return variadic || count <= ports.size();
    };
    if (!fits(op.inputs, node.inputs().size()))
      return Broken(node.Describe(), " has ", node.inputs().size(), " inputs, but at most ", op.inputs.size(),
                    " are declared");
    if (!fits(op.outputs, node.outputs().size()))
      return Broken(node.Describe(), " has ", node.outputs().size(), " outputs, but at most ",
                    op.outputs.size(), " are declared");
    if (node.subgraphs().size() < op.subgraphs.size()) return Broken(node.Describe(), " lacks subgraphs");
    return {};
  }

  std::unordered_set<const Value*> visible_;
  std::unordered_map<const Value*, size_t> reads_;
  std::unordered_map<const Value*, int> outputs_;
};

}  // namespace

Status VerifyGraph(const Graph& graph) {
  Verifier verifier;
  TERN_TRY(verifier.Check(graph));
  return verifier.CheckUses(graph);
}

}  // namespace tern
