#include "tools/verify_layers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "data/json_writer.h"
#include "passes/pipeline.h"
#include "runtime/cost/cost.h"
#include "tools/feeds.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

using Data = std::unordered_map<const Value*, Datum>;

std::vector<Value*> ReadOutputs(const Node& node) {
  std::vector<Value*> read;
  for (Value* v : node.outputs())
    if (!v->unused()) read.push_back(v);
  return read;
}

// Returns the values that the node and its nested graphs read.
std::vector<Value*> Operands(const Node& node) {
  std::vector<Value*> values;
  const auto add = [&](Value* v) {
    if (v && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  };
  for (Value* v : node.inputs()) add(v);
  for (const auto& body : node.subgraphs())
    for (Value* v : body->Captures()) add(v);
  return values;
}

// Returns the node's name. If it has none, returns "%" and the name of its first output.
std::string NameOf(const Node& node) {
  return node.name.empty() ? StrCat("%", node.output(0)->name) : node.name;
}

Type TypeOf(const Value& v, const Datum& datum) {
  if (!datum.is_tensor()) return v.type;
  return Type::TensorOf(datum.tensor.dtype(), Shape::Of(datum.tensor.dims()));
}

// Returns the kernel of the node. If `kernels` does not contain the node, the plan has no steps, because all
// results are constants. In this case, returns "folded".
std::string KernelOf(const std::map<const Node*, std::string>& kernels, const Node& node) {
  const auto it = kernels.find(&node);
  return it == kernels.end() ? "folded" : it->second;
}

// The outputs of all nodes of a graph, and the names of the nodes' kernels.
struct AllValues {
  Data data;
  std::unordered_map<const Node*, std::string> kernels;
};

Result<AllValues> RunAll(const Graph& graph, const DatumList& inputs, const SessionOptions& options) {
  std::unique_ptr<Graph> copy = graph.Clone();
  std::vector<const Value*> originals;
  std::vector<Value*> outputs;
  auto twin = copy->nodes().begin();
  for (const auto& node : graph.nodes()) {
    for (const Value* v : ReadOutputs(*node)) {
      originals.push_back(v);
      outputs.push_back((*twin)->output(v->output));
    }
    ++twin;
  }
  copy->SetOutputs(outputs);
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(copy), options));
  TERN_ASSIGN(DatumList results, engine.Run(inputs));
  AllValues all;
  for (size_t i = 0; i < results.size(); ++i) all.data[originals[i]] = std::move(results[i]);
  const auto kernels = engine.Kernels();
  auto engine_node = engine.graph().nodes().begin();
  for (const auto& node : graph.nodes()) all.kernels[node.get()] = KernelOf(kernels, *(engine_node++)->get());
  return all;
}

// A graph that contains a copy of one node of another graph, and the inputs of the new graph.
struct OneNode {
  std::unique_ptr<Graph> graph;
  DatumList inputs;
};

// Returns true if an operand becomes a constant of the new graph. This is true for constants and for values
// whose elements shape inference found. A plan knows both before a run.
bool IsFixed(const Value& v) { return v.is_constant() || v.content; }

OneNode Alone(const Node& node, const Data& data) {
  OneNode one{std::make_unique<Graph>(node.name), {}};
  std::unordered_map<const Value*, Value*> twins;
  for (const Value* v : Operands(node)) {
    const Datum datum = v->is_constant() ? Datum(v->constant) : data.at(v);
    if (IsFixed(*v) && datum.is_tensor()) {
      twins[v] = one.graph->AddConstant(datum.tensor, v->name);
    } else {
      twins[v] = one.graph->AddInput(v->name, TypeOf(*v, datum));
      one.inputs.push_back(datum);
    }
  }
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(v ? twins.at(v) : nullptr);
  Node* twin = one.graph->AddNode(*node.op, node.attrs, inputs, static_cast<int>(node.outputs().size()));
  twin->name = node.name, twin->origin = node.origin;
  std::vector<Value*> outputs;
  for (const Value* v : ReadOutputs(node)) outputs.push_back(twin->output(v->output));
  one.graph->SetOutputs(outputs);
  return one;
}

// Like Alone, for a node with nested graphs. Clones the entire graph and removes the other nodes.
OneNode AloneWithBodies(const Graph& graph, const Node& node, const DatumList& inputs, const Data& data) {
  OneNode one{graph.Clone(), inputs};
  auto twin = one.graph->nodes().begin();
  for (auto it = graph.nodes().begin(); it->get() != &node; ++it) ++twin;
  const std::vector<Value*> operands = Operands(node), twins = Operands(**twin);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]->producer) continue;
    const Datum& datum = data.at(operands[i]);
    one.graph->ReplaceUses(twins[i], one.graph->AddInput("", TypeOf(*operands[i], datum)));
    one.inputs.push_back(datum);
  }
  std::vector<Value*> outputs;
  for (const Value* v : ReadOutputs(node)) outputs.push_back((*twin)->output(v->output));
  one.graph->SetOutputs(outputs);
  one.graph->RemoveDeadNodes();
  return one;
}

class LayerComparer {
 public:
  LayerComparer(const Graph& graph, const DatumList& inputs, const LayerOptions& options)
      : graph_(graph), inputs_(inputs), options_(options) {
    options_.engine.level = Level::kNone;  // the graph is already optimized
  }

  Result<LayerReport> Run() {
    SessionOptions reference;
    reference.threads = options_.engine.threads;
    reference.reference = true;
    TERN_ASSIGN(AllValues all, RunAll(graph_, inputs_, reference));
    wanted_ = std::move(all.data);
    for (size_t i = 0; i < inputs_.size(); ++i) wanted_[graph_.inputs()[i]] = inputs_[i];
    if (options_.accumulated) {
      TERN_ASSIGN(accumulated_, RunAll(graph_, inputs_, options_.engine));
    }
    for (const auto& node : graph_.nodes()) TERN_TRY(Add(*node));
    return std::move(report_);
  }

 private:
  Status Add(const Node& node) {
    const std::vector<Value*> outputs = ReadOutputs(node);
    if (node.op->Is(kRandom)) report_.not_compared.push_back(NameOf(node));
    if (outputs.empty() || node.op->Is(kRandom)) return {};
    LayerError layer{NameOf(node), KindOf(node), "", "", {}};
    TERN_ASSIGN(const DatumList got, Got(node, layer.kernel));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Datum& wanted = wanted_.at(outputs[i]);
      LayerError other = layer;
      other.output = wanted.Describe();
      other.comparison = data::Compare(got[i], wanted, options_.tolerance);
      if (layer.output.empty() || other.WorseThan(layer)) layer = std::move(other);
    }
    report_.wrong += !layer.ok();
    report_.layers.push_back(std::move(layer));
    return {};
  }

  // Returns the results that the kernels compute for the node's outputs that have readers. Sets `kernel` to
  // the name of the node's kernel.
  Result<DatumList> Got(const Node& node, std::string& kernel) {
    if (options_.accumulated) {
      kernel = accumulated_.kernels.at(&node);
      DatumList got;
      for (const Value* v : ReadOutputs(node)) got.push_back(accumulated_.data.at(v));
      return got;
    }
    OneNode one =
        node.subgraphs().empty() ? Alone(node, wanted_) : AloneWithBodies(graph_, node, inputs_, wanted_);
    TERN_TRY(InferGraph(*one.graph));
    TERN_ASSIGN(Engine engine, Engine::Make(std::move(one.graph), options_.engine));
    TERN_ASSIGN(DatumList got, engine.Run(one.inputs));
    kernel = KernelOf(engine.Kernels(), *engine.graph().nodes().front());
    return got;
  }

  const Graph& graph_;
  const DatumList& inputs_;
  LayerOptions options_;
  Data wanted_;
  AllValues accumulated_;
  LayerReport report_;
};

}  // namespace

double LayerError::of_largest() const {
  return comparison.max_abs == 0 ? 0 : comparison.max_abs / comparison.largest;
}

bool LayerError::WorseThan(const LayerError& other) const {
  return ok() != other.ok() ? !ok() : of_largest() > other.of_largest();
}

void LayerReport::Add(const std::string& data, LayerReport other) {
  for (LayerError& layer : other.layers) {
    layer.data = data;
    layers.push_back(std::move(layer));
  }
  std::stable_sort(layers.begin(), layers.end(),
                   [](const LayerError& a, const LayerError& b) { return a.WorseThan(b); });
  not_compared = std::move(other.not_compared);
  wrong += other.wrong;
}

Result<LayerReport> CompareLayers(const std::string& model, const Feeds& feeds, const LayerOptions& options) {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model, options.load));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*graph, feeds));
  OptimizeOptions optimize;
  optimize.level = options.engine.level;
  auto optimized = Optimize(*graph, optimize);
  if (!optimized.ok()) return optimized.TakeStatus().While("optimizing the graph");
  return LayerComparer(*graph, inputs, options).Run();
}

std::string LayerTable(const LayerReport& report, int64_t max_rows) {
  constexpr const char* kRow = "{:<5} {:<40} {:<18} {:<28} {:<24} {:>9} {:>9} {:>9}\n";
  const auto cut = [](const std::string& text, size_t n) {
    return text.size() <= n ? text : ".." + text.substr(text.size() - n + 2);
  };
  std::string out = fmt::format(kRow, "", "node", "op", "kernel", "output", "max abs", "max rel", "of max");
  int64_t shown = 0;
  for (const LayerError& l : report.layers) {
    if (max_rows > 0 && shown++ == max_rows) break;
    out += fmt::format(kRow, l.ok() ? "ok" : "WRONG", cut(Printable(l.node), 40), cut(l.op, 18),
                       cut(l.kernel, 28), cut(l.output, 24), fmt::format("{:.2g}", l.comparison.max_abs),
                       fmt::format("{:.2g}", l.comparison.max_rel), fmt::format("{:.2g}", l.of_largest()));
  }
  return out;
}

void WriteLayers(const LayerReport& report, data::JsonWriter& json) {
  json.Key("layers").BeginArray();
  for (const LayerError& l : report.layers) {
    const data::Comparison& c = l.comparison;
    json.BeginObject().Key("data").Text(l.data).Key("name").Text(l.node).Key("op").Text(l.op);
    json.Key("kernel").Text(l.kernel).Key("output").Text(l.output).Key("ok").Bool(l.ok());
    json.Key("max_abs").Number(c.max_abs);
    json.Key("max_rel").Number(c.max_rel).Key("of_largest").Number(l.of_largest());
    json.Key("difference").Text(c.difference).EndObject();
  }
  json.EndArray().Key("layers_not_compared").BeginArray();
  for (const std::string& node : report.not_compared) json.Text(node);
  json.EndArray();
}

}  // namespace tern::tools
