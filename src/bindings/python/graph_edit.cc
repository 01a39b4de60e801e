// Edits of a graph.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/python/feed.h"
#include "bindings/python/graph.h"
#include "ir/bind_symbols.h"
#include "ir/sugar.h"
#include "ir/verify.h"

namespace tern::python {
namespace {

void CheckOwner(const std::shared_ptr<SharedGraph>& a, const std::shared_ptr<SharedGraph>& b) {
  if (a != b) Raise(InvalidArgument("the value belongs to another graph"));
}

void CheckNewName(const Graph& graph, const std::string& name) {
  if (name.empty()) Raise(InvalidArgument("a name must not be empty"));
  for (const auto& value : graph.values())
    if (value->name == name) Raise(InvalidArgument("the graph already has a value '", name, "'"));
}

Tensor TensorFrom(nb::handle array, DType dtype, const std::string& what) {
  Loans loans;
  return ToDatum(array, Type::TensorOf(dtype), what, loans).tensor.Clone();
}

// Returns whether a node of `graph` may read the value: it belongs to the graph or to an enclosing one.
bool InScope(const Graph& graph, const Value& value) {
  for (const Graph* g = &graph; g; g = g->parent)
    if (value.graph == g) return true;
  return false;
}

std::vector<Value*> InputsFrom(const GraphRef& graph, nb::handle inputs) {
  std::vector<Value*> values;
  for (nb::handle item : inputs) {
    if (item.is_none()) {
      values.push_back(nullptr);
      continue;
    }
    if (PyUnicode_Check(item.ptr())) {
      values.push_back(&*FindValue(graph, nb::cast<std::string>(item)));
      continue;
    }
    ValueRef* ref = nullptr;
    if (!nb::try_cast(item, ref)) {  // an array or a number is a new constant
      values.push_back(graph->AddConstant(TensorFrom(item, DType::kInvalid, "a constant")));
      continue;
    }
    CheckOwner(graph.shared(), ref->shared());
    if (!InScope(*graph, **ref))
      Raise(InvalidArgument("the value '", (**ref).name, "' is not visible in this graph"));
    values.push_back(&**ref);
  }
  return values;
}

// Removes the constants that an edit added, unless Keep() is called. Removes nothing if the graph already had
// unused constants, because the new ones cannot be told from them.
class NewConstants {
 public:
  explicit NewConstants(const GraphRef& graph) : graph_(graph) {
    for (const auto& value : graph->values()) had_unused_ |= value->is_constant() && value->unused();
  }
  ~NewConstants() {
    if (kept_ || had_unused_) return;
    graph_->RemoveUnusedConstants();
    graph_.shared()->ForgetRemoved();
  }
  NewConstants(const NewConstants&) = delete;
  NewConstants& operator=(const NewConstants&) = delete;
  void Keep() { kept_ = true; }

 private:
  const GraphRef& graph_;
  bool had_unused_ = false, kept_ = false;
};

// Infers the types of the graph after an edit. If that fails, calls `undo` and raises the error.
template <class F> void InferOrUndo(const std::shared_ptr<SharedGraph>& shared, F&& undo) {
  Graph& graph = shared->graph();
  Status status = Guard([&]() -> Status {
    TERN_TRY(graph.SortNodes());
    TERN_TRY(InferGraph(graph));
    return VerifyGraph(graph);
  });
  if (status.ok()) return;
  undo();
  (void)Guard([&]() -> Status {
    TERN_TRY(graph.SortNodes());
    return InferGraph(graph);
  });
  Raise(status);
}

}  // namespace

nb::object AddNode(const GraphRef& graph, const std::string& op_name, nb::handle inputs,
                   const std::string& name, int outputs, const NodeRef* before, const nb::dict& attributes) {
  const auto meaning = ResolveOp(op_name);
  if (!meaning) Raise(NotFound("there is no op '", op_name, "'; tern.ops() lists them"));
  const OpDef* op = meaning->op;
  if (!op->subgraphs.empty())
    Raise(Unsupported("the op ", op_name, " has subgraphs; parse it from text with Graph.parse"));
  if (outputs < 1 || outputs > 64) Raise(InvalidArgument("outputs must be 1 to 64, got ", outputs));
  if (before && before->operator->()->graph != &*graph)
    Raise(InvalidArgument("the node `before` belongs to another graph"));
  NewConstants constants(graph);
  const std::vector<Value*> values = InputsFrom(graph, inputs);
  Attrs attrs = ParseAttributes(*op, attributes);
  if (!meaning->kind.empty()) Check(attrs.Set("kind", meaning->kind));
  Node* node = graph->AddNode(*op, std::move(attrs), values, outputs, before ? &**before : nullptr);
  node->name = name;
  const bool named = !name.empty() && std::none_of(graph->values().begin(), graph->values().end(),
                                                   [&](const auto& v) { return v->name == name; });
  if (named) node->output(0)->name = name;
  InferOrUndo(graph.shared(), [&] { graph->RemoveNode(node); });
  constants.Keep();
  const nb::list made = ValuesOf(graph.shared(), node->outputs());
  return outputs == 1 ? nb::object(made[0]) : nb::object(nb::tuple(made));
}

ValueRef AddInput(const GraphRef& graph, const std::string& name, const std::string& type) {
  if (graph->parent) Raise(Unsupported("inputs can be added only to the top-level graph"));
  CheckNewName(*graph, name);
  const Type parsed = Unwrap(Type::Parse(type));
  return ValueRef(graph.shared(), graph->AddInput(name, parsed));
}

ValueRef AddConstant(const GraphRef& graph, nb::handle array, const std::string& name) {
  if (!name.empty()) CheckNewName(*graph, name);
  Tensor tensor = TensorFrom(array, DType::kInvalid, "a constant");
  return ValueRef(graph.shared(), graph->AddConstant(std::move(tensor), name));
}

void SetConstant(const ValueRef& value, nb::handle array) {
  if (!value->is_constant()) Raise(InvalidArgument("the value '", value->name, "' is not a constant"));
  const Tensor before = value->constant;
  const Type type = value->type;
  value->constant = TensorFrom(array, before.dtype(), StrCat("constant '", value->name, "'"));
  value->type = Type::TensorOf(value->constant.dtype(), Shape::Of(value->constant.dims()));
  InferOrUndo(value.shared(), [&] {
    value->constant = before;
    value->type = type;
  });
}

void SetOutputs(const GraphRef& graph, nb::handle values) {
  if (graph->parent) Raise(Unsupported("outputs can be set only in the top-level graph"));
  if (!graph->states().empty())
    Raise(Unsupported("the graph has states, which refer to outputs by their position"));
  NewConstants constants(graph);
  std::vector<Value*> outputs = InputsFrom(graph, values);
  if (std::count(outputs.begin(), outputs.end(), nullptr))
    Raise(InvalidArgument("an output must be a value, got None"));
  const std::vector<Value*> before = graph->outputs();
  graph->SetOutputs(std::move(outputs));
  InferOrUndo(graph.shared(), [&] { graph->SetOutputs(before); });
  constants.Keep();
}

void RemoveNode(const GraphRef& graph, const NodeRef& node) {
  CheckOwner(graph.shared(), node.shared());
  if (node->graph != &*graph) Raise(InvalidArgument(node->Describe(), " is in another graph"));
  for (const Value* output : node->outputs())
    if (!output->unused())
      Raise(InvalidArgument(node->Describe(), ": its output '", output->name,
                            "' is still read; replace it first"));
  graph->RemoveNode(&*node);
  graph.shared()->ForgetRemoved();
}

void ReplaceValue(const GraphRef& graph, const ValueRef& from, const ValueRef& to) {
  CheckOwner(graph.shared(), from.shared());
  CheckOwner(graph.shared(), to.shared());
  if (from == to) return;
  if (!InScope(*from->graph, *to))
    Raise(InvalidArgument("the value '", to->name, "' is not visible where '", from->name, "' is read"));
  // Nodes that compute `to` from `from` keep reading `from`, so that a node can be inserted behind a value.
  Node* producer = to->producer;
  std::vector<int> kept;
  for (int i = 0; producer && i < static_cast<int>(producer->inputs().size()); ++i)
    if (producer->input(i) == &*from) kept.push_back(i);
  const std::vector<Value*> outputs = from->graph->outputs();
  const auto own = std::count(outputs.begin(), outputs.end(), &*from);
  if (from->output_uses > own)
    Raise(
        Unsupported("the value '", from->name, "' is an output of a subgraph, where it cannot be replaced"));
  const std::vector<std::pair<Node*, int>> uses = from->uses;
  const std::string name = from->name, other = to->name;
  from->graph->ReplaceUses(&*from, &*to);
  for (const int i : kept) producer->SetInput(i, &*from);
  const bool swap = own > 0 && !to->is_input && !from->is_input;  // outputs keep their names
  if (swap) std::swap(from->name, to->name);
  InferOrUndo(graph.shared(), [&] {
    if (swap) from->name = name, to->name = other;
    for (const auto& [node, i] : uses) node->SetInput(i, &*from);
    from->graph->SetOutputs(outputs);
  });
}

void RenameValue(const ValueRef& value, const std::string& name) {
  if (value->name == name) return;
  CheckNewName(*value->graph, name);
  value->name = name;
}

void SetInput(const NodeRef& node, int index, const ValueRef* value) {
  const int count = static_cast<int>(node->inputs().size());
  if (index < 0 || index >= count)
    Raise(InvalidArgument(node->Describe(), " has ", count, " inputs, there is no input ", index));
  if (value) CheckOwner(node.shared(), value->shared());
  if (value && !InScope(*node->graph, **value))
    Raise(InvalidArgument("the value '", (**value).name, "' is not visible in this graph"));
  Value* const before = node->input(index);
  node->SetInput(index, value ? &**value : nullptr);
  InferOrUndo(node.shared(), [&] { node->SetInput(index, before); });
}

void SetDims(const GraphRef& graph, const nb::dict& dims) {
  if (graph->parent) Raise(Unsupported("dims can be set only in the top-level graph"));
  SymbolValues symbols;
  for (auto [name, size] : dims) symbols[nb::cast<std::string>(name)] = nb::cast<int64_t>(size);
  std::vector<std::string> known;
  std::vector<Type> before;
  for (const Value* input : graph->inputs()) {
    before.push_back(input->type);
    for (const Dim& dim : input->type.shape.dims) dim.CollectSymbols(known);
  }
  for (const auto& [name, size] : symbols) {
    if (size < 0) Raise(InvalidArgument("the dim '", name, "' must be 0 or more, got ", size));
    if (std::find(known.begin(), known.end(), name) == known.end())
      Raise(NotFound("no input has a dim '", name,
                     "'; there are: ", known.empty() ? "none" : Join(known, ", ")));
  }
  for (Value* input : graph->inputs()) input->type = WithSymbols(input->type, symbols);
  InferOrUndo(graph.shared(), [&] {
    for (size_t i = 0; i < before.size(); ++i) graph->inputs()[i]->type = before[i];
  });
}

int RemoveUnused(const GraphRef& graph) {
  const int removed = graph->RemoveDeadNodes();
  graph->RemoveUnusedConstants();
  graph.shared()->ForgetRemoved();
  return removed;
}

}  // namespace tern::python
