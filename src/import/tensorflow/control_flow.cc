#include <algorithm>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/control.h"
#include "import/tensorflow/ops/list.h"

namespace tern::tensorflow {

Value* Truth(TfNode& n, Value* x) {
  Value* scalar = n.Op("Reshape", {x, n.b.Ints({})});
  return scalar->type.dtype == DType::kBool ? scalar : n.Cast(scalar, DType::kBool);
}

Value* Materialise(Builder& b, Edge& edge) {
  if (!edge.value && edge.channels_first) edge.value = ToChannelsLast(b, edge.channels_first);
  if (edge.stacked) {
    edge.value = b.Op("SplitToSequence", {edge.value}, {{"axis", 0}, {"keep_dims", false}});
    edge.stacked = false;
  }
  return edge.value;
}

namespace {

// Sets the outputs of a graph. An output must be a value of the graph itself.
Status SetOutputs(Graph& graph, const std::vector<Value*>& values) {
  std::vector<Value*> outputs;
  Builder b(graph);
  for (Value* v : values) {
    const bool taken = std::find(outputs.begin(), outputs.end(), v) != outputs.end();
    outputs.push_back(v->graph == &graph && v->producer && !taken ? v : b.Op("Identity", {v}));
  }
  graph.SetOutputs(std::move(outputs));
  return b.status();
}

// Converts one branch into a subgraph. Appends its tensors to `values`, which become the subgraph's outputs.
// Resource handles do not become outputs. They are only in the returned edges.
Result<std::vector<Edge>> Fill(TfNode& n, Graph& graph, const BranchMaker& make,
                               std::vector<Value*>& values) {
  TERN_ASSIGN(auto edges, make(graph));
  Builder b(graph);
  b.At(n.name(), n.op());
  for (Edge& edge : edges) {
    if (edge.reference && !edge.value) {
      TERN_ASSIGN(edge.value, n.importer().ReadVariable(*edge.resource));
      edge.resource = nullptr;
      edge.reference = false;
    }
    if (Value* v = Materialise(b, edge)) values.push_back(v);
  }
  TERN_TRY(Status(b.status()));
  TERN_TRY(SetOutputs(graph, values));
  return edges;
}

}  // namespace

Result<std::vector<Edge>> BranchIn(TfNode& n, Builder& b, Value* condition, const BranchMaker& yes,
                                   const BranchMaker& no, int outputs) {
  std::vector<Value*> yes_values, no_values;
  Node* node = b.Open("If", {condition}, {}, outputs);
  Graph* then = node->graph->AddSubgraph(node, "then");
  TERN_ASSIGN(auto yes_edges, Fill(n, *then, yes, yes_values));
  Graph* otherwise = node->graph->AddSubgraph(node, "else");
  TERN_ASSIGN(auto no_edges, Fill(n, *otherwise, no, no_values));
  const auto wanted = static_cast<size_t>(outputs);
  if (yes_edges.size() != no_edges.size() || yes_values.size() != wanted || no_values.size() != wanted)
    return n.NotYet("branches with different numbers of results");
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  std::vector<Edge> results;
  size_t next = 0;
  for (size_t i = 0; i < yes_edges.size(); ++i) {
    const Edge &a = yes_edges[i], &z = no_edges[i];
    if (!a.value) {
      if (a.resource != z.resource) return n.NotYet("branches that return different handles");
      results.push_back(a);
      continue;
    }
    if (a.complex != z.complex || !z.value) return n.NotYet("branches with results of different kinds");
    Edge edge(node->outputs()[next++]);
    edge.complex = a.complex;
    results.push_back(edge);
  }
  return results;
}

Result<std::vector<Edge>> Branch(TfNode& n, Value* condition, const BranchMaker& yes, const BranchMaker& no,
                                 int outputs) {
  return BranchIn(n, n.b, condition, yes, no, outputs);
}

namespace {

constexpr int kMaxAttempts = 6;  // how often the types of states are relaxed

// One attempt to convert a loop with given types of its states.
struct Attempt {
  Node* node = nullptr;
  std::vector<Edge> results;  // of the body
};

Result<Attempt> TryLoop(TfNode& n, const LoopParts& parts, const std::vector<size_t>& states,
                        const std::vector<Value*>& initial, Value* condition,
                        const std::vector<Type>& types) {
  std::vector<Value*> inputs = {nullptr, condition};
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  Attempt attempt;
  attempt.node = n.b.Open("Loop", inputs, {}, static_cast<int>(states.size()));
  Graph& body = *attempt.node->graph->AddSubgraph(attempt.node, "body");
  body.AddInput("iteration", Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})));
  body.AddInput("condition", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  std::vector<Edge> args = parts.inputs;
  for (size_t i = 0; i < states.size(); ++i) {
    Edge edge(body.AddInput(StrCat("state", i), types[i]));
    edge.complex = parts.inputs[states[i]].complex;
    edge.resource = parts.inputs[states[i]].resource;
    args[states[i]] = edge;
  }
  TERN_ASSIGN(attempt.results, parts.body(args, body));
  if (attempt.results.size() != parts.inputs.size())
    return n.Bad("the body of the loop has ", attempt.results.size(), " results, but ", parts.inputs.size(),
                 " arguments");
  for (size_t i = 0; i < parts.invariant.size(); ++i)
    if (parts.invariant[i]) attempt.results[i] = args[i];
  TERN_ASSIGN(Edge next, parts.condition(attempt.results, body));
  Builder b(body);
  b.At(n.name(), n.op());
  Value* again = Materialise(b, next);
  if (!again) return n.Bad("the condition of the loop is not a tensor");
  if (again->type.dtype != DType::kBool) again = b.Op("Cast", {again}, {{"to", DType::kBool}});
  std::vector<Value*> outputs = {b.Op("Reshape", {again, b.Ints({})})};
  for (const size_t i : states) {
    Value* v = Materialise(b, attempt.results[i]);
    if (!v) return n.NotYet("a handle that changes in a loop");
    outputs.push_back(v);
  }
  TERN_TRY(Status(b.status()));
  TERN_TRY(SetOutputs(body, outputs));
  return attempt;
}

// Replaces a list of unknown elements by a list of zero tensors with the rank of the elements. Unknown dims
// become 0.
void GiveRank(TfNode& n, const Edge& input, const Type& result, Value*& initial, Type& type) {
  if (!input.reserved || !result.element || !result.element->shape.ranked) return;
  std::vector<Value*> dims = {input.reserved};
  for (const Dim& d : result.element->shape.dims) dims.push_back(n.b.Ints({d.known() ? d.value() : 0}));
  Value* shape = dims.size() == 1 ? dims[0] : n.Concat(dims, 0);
  Value* zeros = n.b.Op("Fill", {shape}, {{"value", n.Numbers(result.element->dtype, {1}, {0})}});
  initial = n.b.Op("SplitToSequence", {zeros}, {{"axis", 0}, {"keep_dims", false}});
  type = initial->type;
}

}  // namespace

// The types of states may change between iterations. The body is first converted with the types of the
// initial values. While its results have other types, it is converted again with types that cover both.
Result<std::vector<Edge>> RunLoop(TfNode& n, const LoopParts& given) {
  LoopParts parts = given;
  std::vector<size_t> states;
  std::vector<Value*> initial;
  std::vector<Type> types;
  for (size_t i = 0; i < parts.inputs.size(); ++i) {
    Edge& edge = parts.inputs[i];
    if (edge.resource && !edge.value && !edge.reference) parts.invariant[i] = true;
    if (parts.invariant[i]) continue;
    Value* v = Materialise(n.b, edge);
    if (!v) return n.NotYet("a loop over a handle");
    states.push_back(i);
    initial.push_back(v);
    types.push_back(v->type);
  }
  TERN_ASSIGN(Edge first, parts.condition(parts.inputs, n.b.graph()));
  Value* condition = Materialise(n.b, first);
  if (!condition) return n.Bad("the condition of the loop is not a tensor");
  condition = Truth(n, condition);
  TERN_TRY(Status(n.b.status()));
  for (int tries = 0;; ++tries) {
    TERN_ASSIGN(Attempt attempt, TryLoop(n, parts, states, initial, condition, types));
    bool stable = true;
    for (size_t i = 0; i < states.size(); ++i) {
      const Type result = attempt.results[states[i]].value->type;
      const Edge& input = parts.inputs[states[i]];
      if (tries == 0 && input.reserved) GiveRank(n, input, result, initial[i], types[i]);
      const Type merged = MergeTypes(types[i], result);
      if (merged.ToString() != types[i].ToString() || (tries == 0 && input.reserved)) stable = false;
      types[i] = merged;
    }
    if (!stable && tries < kMaxAttempts) {
      if (tries + 1 == kMaxAttempts)
        for (Type& type : types) type.shape = Shape();
      n.b.graph().RemoveNode(attempt.node);
      continue;
    }
    n.b.Finish(attempt.node);
    TERN_TRY(Status(n.b.status()));
    std::vector<Edge> results = parts.inputs;
    for (size_t i = 0; i < states.size(); ++i) {
      Edge edge(attempt.node->outputs()[i]);
      edge.complex = attempt.results[states[i]].complex;
      edge.resource = parts.inputs[states[i]].resource;
      results[states[i]] = edge;
    }
    return results;
  }
}

}  // namespace tern::tensorflow
