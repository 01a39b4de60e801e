#include <functional>

#include "check_graph.h"
#include "ir/verify.h"
#include "random_graph.h"

namespace tern {
namespace {

constexpr int kMostChecks = 400;

Node& NodeAt(Graph& graph, int index) { return **std::next(graph.nodes().begin(), index); }

bool DropOutput(Graph& graph, int index) {
  auto outputs = graph.outputs();
  if (outputs.size() < 2 || index >= static_cast<int>(outputs.size())) return false;
  outputs.erase(outputs.begin() + index);
  graph.SetOutputs(outputs);
  return true;
}

// Removes a node and makes its results inputs of the graph.
bool CutNode(Graph& graph, int index) {
  if (index >= static_cast<int>(graph.nodes().size())) return false;
  Node& node = NodeAt(graph, index);
  bool any = false;
  for (Value* v : node.outputs()) {
    if (v->uses.empty() || !IsFloat(v->type.dtype) || !v->type.shape.ranked || v->output_uses) continue;
    graph.ReplaceUses(v, graph.AddInput(StrCat("cut", graph.inputs().size()), v->type));
    any = true;
  }
  return any;
}

// Replaces a node's result by the node's first operand that has the same type.
bool SkipNode(Graph& graph, int index) {
  if (index >= static_cast<int>(graph.nodes().size())) return false;
  Node& node = NodeAt(graph, index);
  Value* v = node.output(0);
  for (Value* x : node.inputs()) {
    if (!x || !(x->type == v->type) || v->output_uses) continue;
    graph.ReplaceUses(v, x);
    return true;
  }
  return false;
}

class Shrinker {
 public:
  Shrinker(const Graph& graph, const CheckOptions& options, const Fault& fault)
      : best_(graph.Clone()), options_(options), fault_(fault) {}

  std::unique_ptr<Graph> Run() {
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const auto& step : {DropOutput, CutNode, SkipNode})
        for (int i = static_cast<int>(best_->nodes().size() + best_->outputs().size()); i >= 0; --i)
          smaller = Try([&](Graph& g) { return step(g, i); }) || smaller;
    }
    return std::move(best_);
  }

 private:
  bool Try(const std::function<bool(Graph&)>& change) {
    if (checks_ > kMostChecks) return false;
    auto next = best_->Clone();
    if (!change(*next)) return false;
    next->RemoveDeadNodes();
    next->RemoveUnusedConstants();
    ForgetTypes(*next);
    if (!InferGraph(*next).ok() || !VerifyGraph(*next).ok()) return false;
    ++checks_;
    const Fault left = CheckGraph(*next, options_);
    if (!left || left.level != fault_.level || left.what.substr(0, 7) != fault_.what.substr(0, 7))
      return false;
    best_ = std::move(next);
    return true;
  }

  std::unique_ptr<Graph> best_;
  const CheckOptions& options_;
  const Fault& fault_;
  int checks_ = 0;
};

}  // namespace

std::unique_ptr<Graph> ShrinkGraph(const Graph& graph, const CheckOptions& options, const Fault& fault) {
  return Shrinker(graph, options, fault).Run();
}

}  // namespace tern
