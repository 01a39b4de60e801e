#include "import/tflite/variables.h"

#include <algorithm>

#include "ir/state.h"

namespace tern::tflite {
namespace {

constexpr const char* kStarted = "variables_are_initialized";

// The type of a value that a subgraph reads from a variable or assigns to it.
Result<Type> TypeOf(const fb::Tensor& tensor) {
  TERN_ASSIGN(const TensorInfo info, InfoOf(tensor));
  const bool fixed =
      std::none_of(info.signature.begin(), info.signature.end(), [](int64_t d) { return d < 0; });
  return Type::TensorOf(info.dtype, fixed ? Shape::Of(info.dims) : Shape());
}

// Visits the operators of one subgraph that refer to variables.
Status VisitSubgraph(ModelContext& context, int index, bool initialization) {
  const fb::SubGraph& graph = context.model.subgraph(index);
  std::map<int, int> handles;  // tensor → resource
  if (!graph.operators()) return {};
  for (const fb::Operator* op : *graph.operators()) {
    const std::string name = context.model.OperatorName(*op);
    const auto input = [&](uint32_t i) {
      return op->inputs() && i < op->inputs()->size() ? op->inputs()->Get(i) : -1;
    };
    if (name == "VAR_HANDLE" && op->outputs() && op->outputs()->size() == 1) {
      const auto* o = op->builtin_options_as_VarHandleOptions();
      handles[op->outputs()->Get(0)] =
          context.resources.Number(StrCat("variable ", o ? TextOf(o->shared_name()) : ""));
    }
    const auto handle = handles.find(input(0));
    if (handle == handles.end()) continue;
    Resource& variable = context.resources.at(handle->second);
    int tensor = -1;
    if (name == "ASSIGN_VARIABLE") tensor = input(1);
    if (name == "READ_VARIABLE" && op->outputs() && op->outputs()->size() == 1)
      tensor = op->outputs()->Get(0);
    if (tensor < 0) continue;
    TERN_ASSIGN(const Type type, TypeOf(*graph.tensors()->Get(static_cast<uint32_t>(tensor))));
    if (!variable.type.shape.ranked) variable.type = type;
    variable.changes |= name == "ASSIGN_VARIABLE" && !initialization;
  }
  return {};
}

// Visits each subgraph once, because many subgraphs may call the same one.
std::vector<bool> AssigningSubgraphs(const Model& model) {
  const auto count = static_cast<size_t>(model.subgraph_count());
  std::vector<bool> assigns(count);
  std::vector<std::vector<size_t>> callers(count);
  std::vector<size_t> found;
  const auto add = [&](size_t subgraph) {
    if (!assigns[subgraph]) found.push_back(subgraph);
    assigns[subgraph] = true;
  };
  for (size_t i = 0; i < count; ++i) {
    const auto* operators = model.subgraph(static_cast<int>(i)).operators();
    if (!operators) continue;
    for (const fb::Operator* op : *operators) {
      if (model.OperatorName(*op) == "ASSIGN_VARIABLE") add(i);
      for (int called : CalledSubgraphs(*op))
        if (called >= 0 && called < model.subgraph_count()) callers[static_cast<size_t>(called)].push_back(i);
    }
  }
  while (!found.empty()) {
    const size_t called = found.back();
    found.pop_back();
    for (size_t caller : callers[called]) add(caller);
  }
  return assigns;
}

}  // namespace

Status FindVariables(ModelContext& context) {
  context.assigns = AssigningSubgraphs(context.model);
  std::vector<bool> initialization(static_cast<size_t>(context.model.subgraph_count()));
  for (int i = 0; i < context.model.subgraph_count(); ++i) {
    const auto* operators = context.model.subgraph(i).operators();
    if (!operators) continue;
    for (const fb::Operator* op : *operators)
      if (const auto* o = op->builtin_options_as_CallOnceOptions())
        if (o->init_subgraph_index() >= 0 && o->init_subgraph_index() < context.model.subgraph_count())
          initialization[static_cast<size_t>(o->init_subgraph_index())] = true;
  }
  for (int i = 0; i < context.model.subgraph_count(); ++i)
    TERN_TRY(VisitSubgraph(context, i, initialization[static_cast<size_t>(i)]));
  return {};
}

void AddVariables(GraphImporter& main) {
  Resources& resources = main.context().resources;
  for (int i = 0; i < resources.size(); ++i) {
    Resource& variable = resources.at(i);
    if (variable.table || !variable.changes || !variable.type.shape.ranked) continue;
    variable.past = main.graph().AddInput(variable.name, variable.type);
    main.variables().Set(i, variable.past);
  }
}

// A state is initially zero. A further state says whether the variables have been initialized.
Status Initialize(GraphImporter& main, int resource, Value* value, Builder& b) {
  Resources& resources = main.context().resources;
  if (Resource& variable = resources.at(resource); variable.changes && !variable.past) {
    // No operator states the variable's dims, so they are those of its first value.
    if (!value->type.tensor() || !value->type.shape.fully_known())
      return Unsupported("'", variable.name,
                         "' keeps its value between runs, but its dims are not known: its first value is ",
                         value->type.ToString());
    variable.past = main.graph().AddInput(variable.name, value->type);
  }
  if (!resources.at(resource).past) {
    main.variables().Set(resource, value);
    return {};
  }
  Resource& flag = resources.at(resources.Number(kStarted));
  if (!flag.past) {
    flag.changes = true;
    flag.past = main.graph().AddInput(kStarted, Type::TensorOf(DType::kU8, Shape(std::vector<Dim>{})));
    main.variables().Set(resources.Number(kStarted), main.graph().AddConstant(Tensor::Scalar(DType::kU8, 1)));
  }
  Value* started = b.Op("Cast", {resources.at(resources.Number(kStarted)).past}, {{"to", DType::kBool}});
  main.variables().Set(resource, b.Op("Where", {started, resources.at(resource).past, value}));
  return {};
}

// LiteRT would let a variable change its shape between runs.
Status AddState(Graph& graph, const std::string& name, Value* past, Value* present,
                std::vector<Value*>& outputs) {
  if (!MayBeState(past->type, present->type))
    return Unsupported("'", name, "' is ", past->type.ToString(), " before a run, but ",
                       present->type.ToString(), " after it; Tern supports only states that keep their type");
  graph.AddState({past, static_cast<int>(outputs.size()), -1});
  outputs.push_back(present);
  return {};
}

Status AddStates(GraphImporter& main) {
  Resources& resources = main.context().resources;
  std::vector<Value*> outputs = main.graph().outputs();
  Builder b(main.graph());
  for (int i = 0; i < resources.size(); ++i) {
    Resource& variable = resources.at(i);
    if (!variable.past) continue;
    Value* present = b.Op("Identity", {main.variables().Find(i)});
    present->name = variable.name + " after the run";
    TERN_TRY(AddState(main.graph(), variable.name, variable.past, present, outputs));
  }
  TERN_TRY(Status(b.status()));
  main.graph().SetOutputs(outputs);
  return {};
}

}  // namespace tern::tflite
