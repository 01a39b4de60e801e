// Imports the main subgraph of a model: its inputs and outputs, and the values that it keeps between runs.
#include <set>

#include "base/unique_names.h"
#include "import/common/unsupported.h"
#include "import/tflite/graph_importer.h"
#include "import/tflite/variables.h"
#include "ops/ops.h"

namespace tern::tflite {
namespace {

// Finds the operators of a subgraph that have no converter, and those of the subgraphs that it calls. A chain
// of calls may be as long as the file permits, so the visit is not recursive.
class Finder {
 public:
  explicit Finder(const Model& model) : model_(model) {}
  import::UnsupportedOperators missing;

  void Visit(int first) {
    Add(first);
    for (size_t i = 0; i < found_.size(); ++i) VisitOperators(found_[i]);
  }

 private:
  void Add(int subgraph) {
    if (subgraph >= 0 && subgraph < model_.subgraph_count() && seen_.insert(subgraph).second)
      found_.push_back(subgraph);
  }
  void VisitOperators(int subgraph) {
    const fb::SubGraph& graph = model_.subgraph(subgraph);
    if (!graph.operators()) return;
    int index = 0;
    for (const fb::Operator* op : *graph.operators()) {
      const std::string name = model_.OperatorName(*op);
      if (!Converters().Find(name))
        missing.Add(name, StrCat("operator #", index, subgraph ? StrCat(" of subgraph ", subgraph) : ""));
      ++index;
      for (int called : CalledSubgraphs(*op)) Add(called);
    }
  }

  const Model& model_;
  std::set<int> seen_;
  std::vector<int> found_;
};

std::string NameOf(const Model& model, int subgraph, const TensorInfo& info, int tensor, bool output,
                   int index) {
  if (!info.name.empty()) return info.name;
  const std::string name = model.SignatureName(subgraph, tensor, output);
  return name.empty() ? StrCat(output ? "output_" : "input_", index) : name;
}

// A dynamic first dim gets the symbol "batch" in all inputs. Any other dynamic dim gets the symbol NAME_AXIS,
// such as "x_1".
Type InputType(const TensorInfo& info, const std::string& name) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    if (info.signature[i] >= 0)
      dims.emplace_back(info.dims[i]);
    else
      dims.push_back(Dim::Symbol(i == 0 ? "batch" : StrCat(name, "_", i)));
  }
  return Type::TensorOf(info.dtype, Shape(std::move(dims)));
}

class MainImporter {
 public:
  MainImporter(const Model& model, Graph& graph, int subgraph)
      : model_(model), graph_(graph), context_{model, graph}, importer_(context_, graph, subgraph, nullptr) {}

  Status Import() {
    TERN_TRY(importer_.ReadTensors());
    TERN_TRY(FindVariables(context_));
    TERN_ASSIGN(const std::vector<Operand> inputs, AddInputs());
    AddVariables(importer_);
    TERN_TRY(importer_.Import(inputs));
    TERN_TRY(SetOutputs());
    TERN_TRY(importer_.AddVariableStates());
    return AddStates(importer_);
  }

 private:
  Result<std::vector<Operand>> AddInputs() {
    std::vector<Operand> inputs;
    if (!importer_.proto().inputs()) return inputs;
    for (int tensor : *importer_.proto().inputs()) {
      const TensorInfo& info = importer_.info(tensor);
      if (info.resource) return Unsupported(info.Describe(), ": a resource as an input of the model");
      if (info.dtype == DType::kC64 || info.dtype == DType::kC128)
        return Unsupported(info.Describe(), ": complex inputs");
      const std::string name = names_.Make(
          NameOf(model_, importer_.subgraph(), info, tensor, false, static_cast<int>(inputs.size())));
      inputs.push_back({graph_.AddInput(name, InputType(info, name)), -1});
    }
    return inputs;
  }

  Status SetOutputs() {
    TERN_ASSIGN(const std::vector<Operand> operands, importer_.Outputs());
    Builder b(graph_);
    std::vector<Value*> outputs;
    std::set<Value*> named(graph_.inputs().begin(), graph_.inputs().end());
    for (size_t i = 0; i < operands.size(); ++i) {
      const int tensor = importer_.proto().outputs()->Get(static_cast<uint32_t>(i));
      const TensorInfo& info = importer_.info(tensor);
      Value* v = operands[i].value;
      if (!v) return Unsupported(info.Describe(), ": a resource as an output of the model");
      if (info.dtype == DType::kC64) v = b.Op("BitCast", {v}, {{"to", DType::kC64}});
      if (v->is_constant() || !named.insert(v).second) v = b.Op("Identity", {v});
      v->name = names_.Make(NameOf(model_, importer_.subgraph(), info, tensor, true, static_cast<int>(i)));
      outputs.push_back(v);
    }
    TERN_TRY(Status(b.status()));
    graph_.SetOutputs(outputs);
    return {};
  }

  const Model& model_;
  Graph& graph_;
  ModelContext context_;
  GraphImporter importer_;
  UniqueNames names_;  // of inputs and outputs
};

}  // namespace

std::vector<int> CalledSubgraphs(const fb::Operator& op) {
  if (const auto* o = op.builtin_options_as_IfOptions())
    return {o->then_subgraph_index(), o->else_subgraph_index()};
  if (const auto* o = op.builtin_options_as_WhileOptions())
    return {o->cond_subgraph_index(), o->body_subgraph_index()};
  if (const auto* o = op.builtin_options_as_CallOnceOptions()) return {o->init_subgraph_index()};
  if (const auto* o = op.builtin_options_as_CallOptions())
    return {static_cast<int>(std::min<uint32_t>(o->subgraph(), INT32_MAX))};
  if (const auto* o = op.builtin_options_2_as_StablehloWhileOptions())
    return {o->cond_subgraph_index(), o->body_subgraph_index()};
  if (const auto* o = op.builtin_options_2_as_StableHLOCompositeOptions())
    return {o->decomposition_subgraph_index()};
  if (const auto* o = op.builtin_options_2_as_StablehloCaseOptions())
    if (o->branch_subgraph_indices())
      return {o->branch_subgraph_indices()->begin(), o->branch_subgraph_indices()->end()};
  return {};
}

Result<std::unique_ptr<Graph>> ImportModel(const Model& model, const std::string& signature) {
  InitOps();
  TERN_ASSIGN(const int subgraph, model.Find(signature));
  Finder finder(model);
  finder.Visit(subgraph);
  TERN_TRY(finder.missing.status());
  std::string name = TextOf(model.subgraph(subgraph).name());
  auto graph = std::make_unique<Graph>(name.empty() ? "main" : name);
  if (const std::string text = TextOf(model.root().description()); !text.empty())
    graph->metadata.emplace_back("description", text);
  TERN_TRY(MainImporter(model, *graph, subgraph).Import());
  graph->RemoveDeadNodes();
  graph->RemoveUnusedConstants();
  return graph;
}

}  // namespace tern::tflite
