// Converts control flow, variables and tables.
#include <set>

#include "import/tflite/ops/emit.h"
#include "import/tflite/variables.h"

namespace tern::tflite {
namespace {

std::vector<Operand> OperandsFrom(LiteNode& n, int first) {
  std::vector<Operand> out;
  for (int i = first; i < n.InputCount(); ++i)
    out.push_back(n.Has(i) ? n.importer().OperandOf(n.TensorOf(i), n.b) : Operand{});
  return out;
}

Status SetOutputs(LiteNode& n, const std::vector<Operand>& outputs) {
  if (static_cast<size_t>(n.OutputCount()) > outputs.size())
    return n.Bad("has ", n.OutputCount(), " outputs, but the subgraph has ", outputs.size());
  for (int i = 0; i < n.OutputCount(); ++i) {
    const Operand& operand = outputs[static_cast<size_t>(i)];
    if (operand.value)
      n.Out(i, operand.value);
    else
      n.OutResource(i, operand.resource);
  }
  return {};
}

Status CallSubgraph(LiteNode& n, int subgraph) {
  TERN_ASSIGN(const std::vector<Operand> outputs, n.importer().Inline(subgraph, OperandsFrom(n, 0)));
  return SetOutputs(n, outputs);
}

Status Call(LiteNode& n) {
  return CallSubgraph(
      n, static_cast<int>(std::min<uint32_t>(n.Options<fb::CallOptions>().subgraph(), INT32_MAX)));
}

Status CallOnce(LiteNode& n) {
  GraphImporter& g = n.importer();
  const int subgraph = n.Options<fb::CallOnceOptions>().init_subgraph_index();
  TERN_TRY(g.CheckCall(subgraph, 0));
  if (!g.top_level()) return n.NotYet("an initialization in a subgraph that another operator calls");
  GraphImporter body(g.context(), g.graph(), subgraph, &g);
  TERN_TRY(body.Import({}));
  for (const auto& [resource, value] : body.variables().own()) TERN_TRY(Initialize(g, resource, value, n.b));
  return {};
}

// Appends the values that variables have at the end of the graph, in the order of `assigned`. A variable that
// the graph does not assign keeps its value.
void AddVariableOutputs(GraphImporter& body, const std::set<int>& assigned, std::vector<Value*>& outputs) {
  for (int resource : assigned) outputs.push_back(body.variables().Find(resource));
}

// Copies outputs that are values of an enclosing graph or that occur twice, because a graph must not return
// such values.
void OwnOutputs(Graph& graph, std::vector<Value*>& outputs, Builder& b) {
  std::set<Value*> seen;
  for (Value*& v : outputs)
    if (v->graph != &graph || !seen.insert(v).second) v = b.Op("Identity", {v});
}

Status ValuesOf(LiteNode& n, const std::vector<Operand>& operands, std::vector<Value*>& values) {
  for (const Operand& o : operands) {
    if (!o.value) return n.NotYet("a resource as a result of a subgraph");
    values.push_back(o.value);
  }
  return {};
}

Status If(LiteNode& n) {
  const auto& o = n.Options<fb::IfOptions>();
  GraphImporter& g = n.importer();
  const std::vector<Operand> inputs = OperandsFrom(n, 1);
  Value* condition = Reshaped(n.b, n.In(0), {});
  struct Branch {
    Graph* graph;
    std::unique_ptr<GraphImporter> importer;
    std::vector<Value*> outputs;
  };
  // The number of outputs is known only after both branches are converted. Therefore the branches are first
  // converted into a trial node.
  std::set<int> assigned;
  for (int trial : {0, 1}) {
    const int count = n.OutputCount() + static_cast<int>(assigned.size());
    Node* node = n.b.Open("If", {condition}, {}, count);
    std::vector<Branch> branches;
    for (int subgraph : {o.then_subgraph_index(), o.else_subgraph_index()}) {
      TERN_TRY(g.CheckCall(subgraph, inputs.size()));
      Graph* graph = g.graph().AddSubgraph(node, branches.empty() ? "then" : "else");
      Branch branch{graph, std::make_unique<GraphImporter>(g.context(), *graph, subgraph, &g), {}};
      TERN_TRY(branch.importer->Import(inputs));
      TERN_ASSIGN(const std::vector<Operand> outputs, branch.importer->Outputs());
      TERN_TRY(ValuesOf(n, outputs, branch.outputs));
      if (static_cast<int>(branch.outputs.size()) != n.OutputCount())
        return n.Bad("has ", n.OutputCount(), " outputs, but subgraph ", subgraph, " has ",
                     branch.outputs.size());
      for (const auto& [resource, value] : branch.importer->variables().own()) assigned.insert(resource);
      branches.push_back(std::move(branch));
    }
    if (trial == 0 && static_cast<int>(assigned.size()) + n.OutputCount() != count) {
      g.graph().RemoveNode(node);
      continue;
    }
    for (Branch& branch : branches) {
      AddVariableOutputs(*branch.importer, assigned, branch.outputs);
      for (Value* v : branch.outputs)
        if (!v) return n.NotYet("a variable that has no value before this operator");
      Builder inside(*branch.graph);
      OwnOutputs(*branch.graph, branch.outputs, inside);
      TERN_TRY(Status(inside.status()));
      branch.graph->SetOutputs(branch.outputs);
    }
    n.b.Finish(node);
    for (int i = 0; i < n.OutputCount(); ++i) n.Out(i, node->output(i));
    int next = n.OutputCount();
    for (int resource : assigned) g.variables().Set(resource, node->output(next++));
    return {};
  }
  return {};
}

// Returns the type with unknown dims, because the dims of a state may change between iterations.
Type AnySize(Type type) {
  for (Dim& d : type.shape.dims) d = Dim::Unknown();
  return type;
}

// Emits a Loop. Its states are the operands that are values, then the variables.
Status WhileLoop(LiteNode& n, int condition, int body_index) {
  GraphImporter& g = n.importer();
  Builder& b = n.b;
  const std::vector<Operand> inputs = OperandsFrom(n, 0);
  TERN_TRY(g.CheckCall(condition, inputs.size()));
  TERN_TRY(g.CheckCall(body_index, inputs.size()));
  std::vector<int> variables;
  const std::vector<bool>& assigns = g.context().assigns;
  if (assigns[static_cast<size_t>(body_index)] || assigns[static_cast<size_t>(condition)])
    for (int i = 0; i < g.context().resources.size(); ++i)
      if (g.variables().Find(i)) variables.push_back(i);
  TERN_ASSIGN(const std::vector<Operand> first, g.Inline(condition, inputs));
  if (first.size() != 1 || !first[0].value) return n.Bad("the condition must have one result");
  std::vector<Value*> loop = {nullptr, Reshaped(b, first[0].value, {})};
  for (const Operand& o : inputs)
    if (o.value) loop.push_back(o.value);
  for (int v : variables) loop.push_back(g.variables().Find(v));
  Node* node = b.Open("Loop", loop, {}, static_cast<int>(loop.size()) - 2);
  Graph* graph = g.graph().AddSubgraph(node, "body");
  graph->AddInput("iteration", Type::TensorOf(DType::kI64, Shape(std::vector<Dim>{})));
  graph->AddInput("condition", Type::TensorOf(DType::kBool, Shape(std::vector<Dim>{})));
  std::vector<Operand> states = inputs;
  GraphImporter outer(g.context(), *graph, body_index, &g);
  size_t at = 2;
  for (Operand& o : states)
    if (o.value) {
      o.value = graph->AddInput(StrCat("state_", at), AnySize(loop[at]->type));
      ++at;
    }
  for (int v : variables) {
    outer.variables().Set(v, graph->AddInput(StrCat("state_", at), loop[at]->type));
    ++at;
  }
  TERN_TRY(outer.Import(states));
  TERN_ASSIGN(std::vector<Operand> results, outer.Outputs());
  if (results.size() != inputs.size())
    return n.Bad("the body has ", results.size(), " results, but ", inputs.size(), " inputs");
  TERN_ASSIGN(const std::vector<Operand> again, outer.Inline(condition, results));
  if (again.size() != 1 || !again[0].value) return n.Bad("the condition must have one result");
  Builder inside(*graph);
  std::vector<Value*> outputs = {Reshaped(inside, again[0].value, {})};
  for (size_t i = 0; i < results.size(); ++i) {
    if (!inputs[i].value) continue;
    if (!results[i].value) return n.Bad("result ", i, " of the body is a resource");
    outputs.push_back(results[i].value);
  }
  for (int v : variables) outputs.push_back(outer.variables().Find(v));
  OwnOutputs(*graph, outputs, inside);
  TERN_TRY(Status(inside.status()));
  graph->SetOutputs(outputs);
  b.Finish(node);
  int next = 0;
  std::vector<Operand> final = inputs;
  for (Operand& o : final)
    if (o.value) o.value = node->output(next++);
  for (int v : variables) g.variables().Set(v, node->output(next++));
  return SetOutputs(n, final);
}

Status While(LiteNode& n) {
  const auto& o = n.Options<fb::WhileOptions>();
  return WhileLoop(n, o.cond_subgraph_index(), o.body_subgraph_index());
}

Status StablehloWhile(LiteNode& n) {
  const auto& o = n.Options2<fb::StablehloWhileOptions>();
  return WhileLoop(n, o.cond_subgraph_index(), o.body_subgraph_index());
}

Status VarHandle(LiteNode& n) {
  const std::string name = TextOf(n.Options<fb::VarHandleOptions>().shared_name());
  n.OutResource(0, n.importer().context().resources.Number(StrCat("variable ", name)));
  return {};
}

// Returns the resource of input 0.
Result<int> HandleOf(LiteNode& n) {
  const int resource = n.importer().ResourceOf(n.TensorOf(0));
  if (resource < 0) return n.Bad("input 0 is not a handle");
  return resource;
}

Status ReadVariable(LiteNode& n) {
  TERN_ASSIGN(const int resource, HandleOf(n));
  Value* value = n.importer().variables().Find(resource);
  if (!value)
    return n.NotYet("reads a variable that no operator has assigned before, and whose size is not known");
  n.Out(0, n.b.Op("Identity", {value}));
  return {};
}

Status AssignVariable(LiteNode& n) {
  TERN_ASSIGN(const int resource, HandleOf(n));
  n.importer().variables().Set(resource, n.In(1));
  return {};
}

// A table belongs to the model, not to the operator. Operators with the same number share a table.
Status Hashtable(LiteNode& n) {
  const int id =
      n.importer().context().resources.Number(StrCat("table ", n.Options<fb::HashtableOptions>().table_id()));
  n.importer().context().resources.at(id).table = true;
  n.OutResource(0, id);
  return {};
}

Status HashtableImport(LiteNode& n) {
  TERN_ASSIGN(const int id, HandleOf(n));
  const Tensor *keys = n.Constant(1), *values = n.Constant(2);
  if (!keys || !values) return n.NotYet("keys or values that are not constant");
  if (keys->size() != values->size())
    return n.Bad("has ", keys->size(), " keys, but ", values->size(), " values");
  Resource& table = n.importer().context().resources.at(id);
  if (table.keys.defined()) return {};  // a table is filled once
  table.keys = keys->Reshaped({keys->size()});
  table.values = values->Reshaped({values->size()});
  return {};
}

Status HashtableFind(LiteNode& n) {
  TERN_ASSIGN(const int id, HandleOf(n));
  const Resource& table = n.importer().context().resources.at(id);
  const Tensor* otherwise = n.Constant(2);
  if (!table.keys.defined()) return n.NotYet("a table that no operator has filled with constants");
  if (!otherwise || otherwise->size() != 1) return n.NotYet("a default that is not one constant");
  n.Out(0, n.b.Op("LabelEncoder", {n.In(1)},
                  {{"keys", table.keys}, {"values", table.values}, {"otherwise", otherwise->Reshaped({1})}}));
  return {};
}

Status HashtableSize(LiteNode& n) {
  TERN_ASSIGN(const int id, HandleOf(n));
  const Resource& table = n.importer().context().resources.at(id);
  if (!table.keys.defined()) return n.NotYet("a table that no operator has filled with constants");
  n.Out(0, n.b.Const(Tensor::Of(DType::kI64, {1}, {static_cast<double>(table.keys.size())})));
  return {};
}

}  // namespace

TERN_CONVERTERS(control) {
  table.Add("CALL", 0, Call);
  table.Add("CALL_ONCE", 0, CallOnce);
  table.Add("IF", 1, If);
  table.Add("WHILE", 0, While);
  table.Add("STABLEHLO_WHILE", 0, StablehloWhile);
  table.Add("STABLEHLO_COMPOSITE", 0, [](LiteNode& n) {
    return CallSubgraph(n, n.Options2<fb::StableHLOCompositeOptions>().decomposition_subgraph_index());
  });
  table.Add("VAR_HANDLE", 0, VarHandle);
  table.Add("READ_VARIABLE", 1, ReadVariable);
  table.Add("ASSIGN_VARIABLE", 2, AssignVariable);
  table.Add("HASHTABLE", 0, Hashtable);
  table.Add("HASHTABLE_IMPORT", 3, HashtableImport);
  table.Add("HASHTABLE_FIND", 3, HashtableFind);
  table.Add("HASHTABLE_SIZE", 1, HashtableSize);
}

}  // namespace tern::tflite
