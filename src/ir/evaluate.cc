#include "ir/evaluate.h"

#include <map>

#include "ir/bind_symbols.h"

namespace tern {
namespace {

// Maps the values of a graph to their data. `outer` is the environment of the enclosing graph.
struct Environment {
  const Environment* outer = nullptr;
  std::map<const Value*, Datum> values;

  const Datum* Find(const Value* v) const {
    for (const Environment* e = this; e; e = e->outer) {
      auto it = e->values.find(v);
      if (it != e->values.end()) return &it->second;
    }
    return nullptr;
  }
};

using SubgraphRunner = std::function<Result<DatumList>(int, const DatumList&)>;

class NodeContext : public EvalContext {
 public:
  NodeContext(const Node& node, std::vector<const Datum*> inputs, std::vector<Type> types,
              const SubgraphRunner& run, size_t collect_limit)
      : EvalContext(*node.op, std::move(inputs), std::move(types)),
        run_(run),
        collect_limit_(collect_limit) {}
  Result<DatumList> RunSubgraph(int i, const DatumList& inputs) override {
    return run_ ? run_(i, inputs) : EvalContext::RunSubgraph(i, inputs);
  }
  size_t CollectLimit() const override { return collect_limit_; }

 private:
  const SubgraphRunner& run_;
  const size_t collect_limit_;
};

Result<std::vector<Type>> OutputTypes(const Node& node, const std::vector<const Datum*>& inputs) {
  const int count = static_cast<int>(node.outputs().size());
  // RunInfer cannot infer subgraphs here, so a node with subgraphs keeps the types that the graph has.
  if (!node.subgraphs().empty()) {
    SymbolValues symbols;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] && inputs[i]->is_tensor())
        BindSymbols(node.inputs()[i]->type, inputs[i]->tensor.dims(), symbols);
    std::vector<Type> types;
    for (const Value* v : node.outputs()) types.push_back(WithSymbols(v->type, symbols));
    return types;
  }
  std::vector<InferInput> infer(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    infer[i].present = true;
    infer[i].type = TypeOf(*inputs[i]);
    if (inputs[i]->is_tensor()) infer[i].constant = inputs[i]->tensor;
    // Uses the declared type of a sequence, optional or map, because the element type of an empty one cannot
    // be found from its data.
    const Value* declared = node.inputs()[i];
    if (!inputs[i]->is_tensor() && declared->type.kind != Type::Kind::kUnknown)
      infer[i].type = declared->type;
  }
  InferContext context(*node.op, std::move(infer), count);
  TERN_TRY(RunInfer(*node.op, node.attrs, context));
  std::vector<Type> types;
  for (int i = 0; i < count; ++i) {
    types.push_back(context.outputs()[static_cast<size_t>(i)].type);
    if (types.back().kind == Type::Kind::kUnknown)
      types.back() = node.outputs()[static_cast<size_t>(i)]->type;
  }
  return types;
}

Result<DatumList> Evaluate(const Node& node, const std::vector<const Datum*>& inputs,
                           const SubgraphRunner& run, size_t collect_limit = DefaultCollectLimit()) {
  if (!node.op->reference) return Unsupported("no reference evaluator");
  TERN_ASSIGN(std::vector<Type> types, OutputTypes(node, inputs));
  NodeContext context(node, inputs, std::move(types), run, collect_limit);
  TERN_TRY(node.op->reference(node.attrs, context));
  return std::move(context.outputs());
}

Result<DatumList> Run(const Graph& graph, const DatumList& inputs, const Environment* outer,
                      const NodeObserver& observer, const EvaluateLimits& limits) {
  TERN_TRY(limits.stop.Check());
  if (inputs.size() != graph.inputs().size())
    return InvalidArgument("graph '", graph.name, "' takes ", graph.inputs().size(), " inputs, got ",
                           inputs.size());
  Environment env{outer, {}};
  for (size_t i = 0; i < inputs.size(); ++i) env.values[graph.inputs()[i]] = inputs[i];
  for (const auto& v : graph.values())
    if (v->is_constant()) env.values[v.get()] = v->constant;
  for (const auto& node : graph.nodes()) {
    TERN_TRY(limits.stop.Check());
    std::vector<const Datum*> data;
    for (const Value* v : node->inputs()) data.push_back(v ? env.Find(v) : nullptr);
    const SubgraphRunner run = [&](int i, const DatumList& in) {
      return Run(*node->subgraphs()[static_cast<size_t>(i)], in, &env, observer, limits);
    };
    auto result = Evaluate(*node, data, run, limits.collect_limit);
    if (!result.ok())
      return Status(result.status().code(), StrCat(node->Describe(), ": ", result.status().message()));
    if (observer) observer(*node, *result);
    for (size_t i = 0; i < node->outputs().size(); ++i) env.values[node->outputs()[i]] = (*result)[i];
  }
  DatumList out;
  for (const Value* v : graph.outputs()) {
    const Datum* d = env.Find(v);
    if (!d) return Status(Code::kInternal, StrCat("output '", v->name, "' was never computed"));
    out.push_back(*d);
  }
  return out;
}

}  // namespace

Result<DatumList> EvaluateNode(const Node& node, const std::vector<const Datum*>& inputs) {
  return Evaluate(node, inputs, {});
}

Result<DatumList> EvaluateGraph(const Graph& graph, const DatumList& inputs, const NodeObserver& observer,
                                const EvaluateLimits& limits) {
  return Guard([&]() -> Result<DatumList> { return Run(graph, inputs, nullptr, observer, limits); });
}

}  // namespace tern
