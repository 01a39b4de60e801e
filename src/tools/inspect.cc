// tern inspect: prints the layers of a model and their costs.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/json_writer.h"
#include "tools/cost_report.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/model_info.h"
#include "tools/shapes.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

// The declared type of an input or output, before open dims are set.
struct Declared {
  std::string name;
  Type type;
};

std::vector<Declared> DeclaredOf(const std::vector<Value*>& values) {
  std::vector<Declared> out;
  for (const Value* v : values) out.push_back({v->name, v->type});
  return out;
}

class InspectTool : public Tool {
 public:
  const char* name() const override { return "inspect"; }
  const char* summary() const override {
    return "print layers, shapes, parameters, FLOPs and memory traffic of a model";
  }
  const char* examples() const override {
    return "  tern inspect model.onnx\n"
           "  tern inspect model.onnx --level layout\n"
           "  tern inspect model.onnx --dim batch=8 --json\n"
           "  tern inspect model.tern --summary\n";
  }
  void Declare(Args& args) override {
    args.Positional("MODEL", model_, ModelHelp());
    model_flags_.Declare(args);
    shapes_.Declare(args);
    args.Choice(
        "--level", level_.name, {"none", "basic", "extended", "layout"},
        "optimize the graph to this level before printing it (none); the commands run, bench and profile use "
        "layout");
    args.Flag("--summary", summary_, "print the totals without the layers");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  void Print(const Graph& graph, const CostReport& report) const;
  void PrintValues(const char* title, const std::vector<Declared>& values) const;
  static void WriteValues(const char* key, const std::vector<Declared>& values, data::JsonWriter& json);
  void PrintLayers(const Graph& graph, const CostReport& report) const;
  void PrintJson(const Graph& graph, const CostReport& report) const;

  std::string model_;
  ModelFlags model_flags_;
  bool json_ = false, summary_ = false;
  ShapeOptions shapes_;
  LevelOption level_{"none"};
  std::vector<Declared> inputs_, outputs_;
};

// Shortens a name to `width` characters. Cuts the middle, because both ends are informative.
std::string Shorten(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  const size_t head = width / 2 - 1;
  return text.substr(0, head) + ".." + text.substr(text.size() - (width - head - 2));
}

std::string OutputType(const Node& node) {
  return node.outputs().empty() ? "" : node.output(0)->type.ToString();
}

std::map<std::string, int> CountKinds(const CostReport& report) {
  std::map<std::string, int> kinds;
  for (const Layer& layer : report.layers) ++kinds[KindOf(*layer.node)];
  return kinds;
}

std::map<std::string, int> ReferenceOps(const CostReport& report) {
  std::map<std::string, int> ops;
  for (const Layer& layer : report.layers)
    if (layer.kernel == "reference") ++ops[KindOf(*layer.node)];
  return ops;
}

std::string Counted(const std::map<std::string, int>& counts) {
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, count] : counts) order.emplace_back(-count, name);
  std::sort(order.begin(), order.end());
  std::string out;
  for (const auto& [count, name] : order) out += StrCat(out.empty() ? "" : ", ", name, " ", -count);
  return out;
}

constexpr const char* kRow = "{:<34} {:<18} {:<26} {:>9} {:>9} {:>9} {:>9} {:>7}  {}\n";

void PrintLayer(const Layer& l) {
  const auto number = [&](double Cost::*field) {
    return l.cost ? Thousands((*l.cost).*field) : std::string("?");
  };
  const std::string name = std::string(static_cast<size_t>(l.depth) * 4, ' ') + Printable(l.node->name);
  fmt::print(kRow, Shorten(name, 34), Shorten(KindOf(*l.node), 18),
             Shorten(Printable(OutputType(*l.node)), 26), Thousands(static_cast<double>(l.params)),
             number(&Cost::macs), number(&Cost::flops), number(&Cost::bytes),
             l.cost ? fmt::format("{:.1f}", l.cost->intensity()) : "?", l.kernel);
}

// Prints each node, followed by its bodies. A line above each body shows its inputs and outputs.
void PrintLayersOf(const Graph& graph, const std::map<const Node*, const Layer*>& layers) {
  for (const auto& node : graph.nodes()) {
    const Layer& layer = *layers.at(node.get());
    PrintLayer(layer);
    for (size_t i = 0; i < node->subgraphs().size(); ++i) {
      fmt::print("{}{}\n", std::string(static_cast<size_t>(layer.depth) * 4 + 2, ' '),
                 DescribeBody(BodyOf(*node, i)));
      PrintLayersOf(*node->subgraphs()[i], layers);
    }
  }
}

void InspectTool::PrintLayers(const Graph& graph, const CostReport& report) const {
  fmt::print(kRow, "layer", "op", "output", "params", "MACs", "FLOPs", "bytes", "FLOP/B", "kernel");
  std::map<const Node*, const Layer*> layers;
  for (const Layer& l : report.layers) layers[l.node] = &l;
  PrintLayersOf(graph, layers);
}

void InspectTool::PrintValues(const char* title, const std::vector<Declared>& values) const {
  for (const Declared& v : values)
    fmt::print("{:<11}{} {}\n", title, Printable(v.name), Printable(v.type.ToString()));
}

// Writes the values as an array of objects. A tensor also has the keys "dtype" and "shape". In "shape", a
// known dim is a number, a symbolic dim is a string, and an unknown dim is null.
void InspectTool::WriteValues(const char* key, const std::vector<Declared>& values, data::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const Declared& v : values) {
    json.BeginObject().Key("name").Text(v.name).Key("type").Text(v.type.ToString());
    if (v.type.tensor()) {
      json.Key("dtype").Text(DTypeName(v.type.dtype)).Key("shape");
      v.type.shape.ranked ? json.BeginArray() : json.Null();
      for (const Dim& d : v.type.shape.dims)
        d.known() ? json.Int(d.value()) : d.symbolic() ? json.Text(d.ToString()) : json.Null();
      if (v.type.shape.ranked) json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
}

void InspectTool::Print(const Graph& graph, const CostReport& r) const {
  if (!summary_) PrintLayers(graph, r);
  fmt::print("{}model      {}\n", summary_ ? "" : "\n", model_);
  if (level_.level() == Level::kNone)
    fmt::print("graph      as stored in the model; it is optimized before it runs: see --level layout\n");
  else
    fmt::print("graph      optimized, level {}{}\n", level_.name,
               level_.level() == Level::kLayout ? ": as it runs by default" : "");
  fmt::print("{}", ModelInfoText(graph));
  PrintValues("input", inputs_);
  PrintValues("output", outputs_);
  fmt::print("nodes      {} ({})\n", graph.NodeCount(), Counted(CountKinds(r)));
  fmt::print("params     {} ({} bytes)\n", Thousands(static_cast<double>(r.params)),
             Thousands(static_cast<double>(r.param_bytes)));
  fmt::print("MACs       {}\nFLOPs      {}\nbytes      at least {} moved\n", Thousands(r.total.macs),
             Thousands(r.total.flops), Thousands(r.total.bytes));
  fmt::print("intensity  {:.2f} FLOP/byte\n", r.total.intensity());
  if (r.uncounted) fmt::print("not counted: {} layers whose dims depend on data\n", r.uncounted);
  const auto reference = ReferenceOps(r);
  const bool planned =
      std::any_of(r.layers.begin(), r.layers.end(), [](const Layer& l) { return !l.kernel.empty(); });
  if (planned)
    fmt::print("slow       {}\n", reference.empty() ? "none: every op has a kernel"
                                                    : Counted(reference) + " run by the reference evaluator");
}

void InspectTool::PrintJson(const Graph& graph, const CostReport& r) const {
  data::JsonWriter json;
  const auto cost = [&](const Cost& c) {
    const auto whole = [&](const char* key, double v) {
      json.Key(key).Int(static_cast<int64_t>(std::min(std::ceil(v), 9e18)));
    };
    whole("macs", c.macs);
    whole("flops", c.flops);
    whole("bytes", c.bytes);
    json.Key("intensity").Number(c.intensity());
  };
  const auto counts = [&](const char* key, const std::map<std::string, int>& map) {
    json.Key(key).BeginObject();
    for (const auto& [name, count] : map) json.Key(name).Int(count);
    json.EndObject();
  };
  json.BeginObject()
      .Key("model")
      .Text(model_)
      .Key("params")
      .Int(r.params)
      .Key("param_bytes")
      .Int(r.param_bytes);
  json.Key("level").Text(level_.name);
  WriteModelInfo(graph, json);
  cost(r.total);
  json.Key("nodes").Int(graph.NodeCount()).Key("uncounted").Int(r.uncounted);
  WriteValues("inputs", inputs_, json);
  WriteValues("outputs", outputs_, json);
  counts("ops", CountKinds(r));
  counts("reference_ops", ReferenceOps(r));
  const std::map<const Graph*, int64_t> bodies = WriteBodies(graph, json);
  json.Key("layers").BeginArray();
  for (const Layer& l : r.layers) {
    if (summary_) break;
    json.BeginObject()
        .Key("name")
        .Text(l.node->name)
        .Key("op")
        .Text(KindOf(*l.node))
        .Key("origin")
        .Text(l.node->origin);
    json.Key("depth")
        .Int(l.depth)
        .Key("output")
        .Text(OutputType(*l.node))
        .Key("params")
        .Int(l.params)
        .Key("kernel")
        .Text(l.kernel);
    if (l.depth) json.Key("body").Int(bodies.at(l.node->graph));
    if (l.cost) cost(*l.cost);
    json.EndObject();
  }
  json.EndArray().EndObject();
  fmt::print("{}\n", json.text());
}

// Returns arbitrary values for all inputs, so that a plan can be compiled. Returns an empty list if an input
// is not a tensor.
Result<DatumList> SampleInputs(Graph& graph) {
  for (const Value* v : graph.inputs())
    if (!v->type.tensor()) return DatumList();
  Feeds feeds;
  TERN_TRY(AddRandomFeeds(graph, 0, feeds));
  return OrderFeeds(graph, feeds);
}

Result<int> InspectTool::Run(const Args&) {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_, model_flags_.Options(), shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  inputs_ = DeclaredOf(graph->inputs());
  outputs_ = DeclaredOf(graph->outputs());
  TERN_TRY(CloseOpenDims(*graph));
  TERN_ASSIGN(const DatumList inputs, SampleInputs(*graph));
  SessionOptions options;
  options.level = level_.level();
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), options));
  if (!inputs.empty()) {
    TERN_TRY(engine.Bind(inputs));
    TERN_TRY(engine.Prepare().While(StrCat("choosing kernels for '", model_, "'")));
  }
  const CostReport report = MakeCostReport(engine.graph(), engine.Kernels());
  if (json_)
    PrintJson(engine.graph(), report);
  else
    Print(engine.graph(), report);
  return 0;
}

}  // namespace

TERN_TOOL(Inspect) { return std::make_unique<InspectTool>(); }

}  // namespace tern::tools
