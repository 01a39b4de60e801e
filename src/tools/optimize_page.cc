#include "tools/optimize_page.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "data/json_writer.h"
#include "tools/cost_report.h"
#include "tools/page.h"

namespace tern::tools {
namespace {

// Collects the values that depend only on shapes and constants. They are known before a run.
class FixedValues {
 public:
  // Adds the outputs of a node. Nodes must be added in graph order.
  void Add(const Node& node) {
    for (const Value* v : node.outputs())
      if (Known(*v) || OfFixedInputs(node)) values_.insert(v);
  }
  bool Has(const Value* v) const { return !v || v->is_constant() || values_.count(v); }

 private:
  static bool Known(const Value& v) {
    return v.content &&
           std::all_of(v.content->begin(), v.content->end(), [](const Dim& d) { return d.known(); });
  }
  bool OfFixedInputs(const Node& node) const {
    return node.op->Is(kPure) && node.subgraphs().empty() &&
           std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return Has(v); });
  }
  std::unordered_set<const Value*> values_;
};

// Returns true if the node's output has the same type and bytes as its input.
bool PassesOn(const Node& node) {
  return node.op->Is(kView) && node.input(0) && node.input(0)->type == node.output(0)->type;
}

// Writes one graph with its nested bodies as JSON. Nodes and bodies are identified by their indices. Body -1
// is the top-level graph.
class SideWriter {
 public:
  explicit SideWriter(data::JsonWriter& json) : json_(json) {}

  void Write(const char* title, const Graph& graph, const GraphFigures& figures) {
    const CostReport report = MakeCostReport(graph, {});
    for (size_t i = 0; i < report.layers.size(); ++i) place_[report.layers[i].node] = static_cast<int64_t>(i);
    body_[&graph] = -1;
    for (const Layer& layer : report.layers) NumberBodies(*layer.node);
    json_.BeginObject().Key("title").Text(title).Key("flops").Number(figures.cost.flops);
    json_.Key("bytes").Number(figures.cost.bytes).Key("ms").Number(figures.estimated_ms);
    json_.Key("nodes").BeginArray();
    for (const Layer& layer : report.layers) Node(layer);
    json_.EndArray().Key("bodies").BeginArray();
    for (const Layer& layer : report.layers) Bodies(*layer.node);
    json_.EndArray();
    Ends("inputs", graph.inputs());
    Ends("outputs", graph.outputs());
    json_.EndObject();
  }

 private:
  void NumberBodies(const tern::Node& node) {
    for (const auto& body : node.subgraphs())
      body_.emplace(body.get(), static_cast<int64_t>(body_.size()) - 1);
  }

  void Node(const Layer& layer) {
    const tern::Node& node = *layer.node;
    const Cost cost = layer.cost.value_or(Cost());
    fixed_.Add(node);
    const auto& outputs = node.outputs();
    const bool fixed =
        std::all_of(outputs.begin(), outputs.end(), [&](const Value* v) { return fixed_.Has(v); });
    json_.BeginObject().Key("name").Text(node.name).Key("op").Text(KindOf(node));
    json_.Key("body")
        .Int(body_.at(node.graph))
        .Key("fixed")
        .Bool(fixed)
        .Key("passes_on")
        .Bool(PassesOn(node));
    json_.Key("origin").Text(node.origin).Key("rule").Text(node.rule);
    json_.Key("flops").Number(cost.flops).Key("bytes").Number(cost.bytes);
    json_.Key("ms").Number(EstimateMs(cost, 1));
    Attributes(node);
    Ends("inputs", node.inputs());
    json_.Key("outputs").BeginArray();
    for (const Value* v : outputs)
      json_.BeginObject().Key("name").Text(v->name).Key("type").Text(v->type.ToString()).EndObject();
    json_.EndArray().EndObject();
  }

  void Attributes(const tern::Node& node) {
    json_.Key("attrs").BeginArray();
    for (const auto& entry : node.attrs.List())
      if (!entry.is_default)
        json_.BeginArray().Text(entry.name).Text(AttrToText(entry.value).substr(0, kLongest)).EndArray();
    json_.EndArray();
  }

  void Bodies(const tern::Node& node) {
    for (size_t i = 0; i < node.subgraphs().size(); ++i) {
      const Graph& body = *node.subgraphs()[i];
      const auto& roles = node.op->subgraphs;
      json_.BeginObject().Key("owner").Int(place_.at(&node)).Key("name").Text(body.name);
      json_.Key("role").Text(i < roles.size() ? roles[i] : "body");
      Ends("inputs", body.inputs());
      Ends("outputs", body.outputs());
      json_.EndObject();
    }
  }

  void Ends(const char* key, const std::vector<Value*>& values) {
    json_.Key(key).BeginArray();
    for (const Value* v : values) Read(v);
    json_.EndArray();
  }

  // Writes a value that a node reads or a graph returns. The key "from" is the index of the node that
  // produces the value. It is -1 for an input of a graph, a constant or an absent input. The key "body" is
  // the index of the body to which the value belongs.
  void Read(const Value* v) {
    json_.BeginObject().Key("name").Text(v ? v->name : "").Key("type").Text(v ? v->type.ToString() : "");
    const auto it = v && v->producer ? place_.find(v->producer) : place_.end();
    json_.Key("from").Int(it == place_.end() ? -1 : it->second);
    json_.Key("body").Int(v ? body_.at(v->graph) : -1);
    json_.Key("constant").Bool(v && v->is_constant()).EndObject();
  }

  static constexpr size_t kLongest = 200;  // the text of an attribute is truncated to this number of bytes
  data::JsonWriter& json_;
  std::unordered_map<const tern::Node*, int64_t> place_;
  std::unordered_map<const Graph*, int64_t> body_;
  FixedValues fixed_;
};

}  // namespace

std::string OptimizePage(const std::string& model, const Graph& before, const Graph& after,
                         const OptimizeFigures& figures) {
  data::JsonWriter json;
  json.BeginObject().Key("model").Text(model).Key("sides").BeginArray();
  SideWriter(json).Write("before", before, figures.before);
  SideWriter(json).Write("after", after, figures.after);
  json.EndArray().Key("rules").BeginArray();
  for (const auto& [name, hits] : figures.report.hits) {
    const Rule* rule = FindRule(name);
    json.BeginObject().Key("name").Text(name).Key("hits").Int(hits);
    json.Key("summary").Text(rule ? rule->summary : "a pass").EndObject();
  }
  json.EndArray().EndObject();
  return FillPage("optimize.html", {{"data", JsonForScript(json.text())}});
}

}  // namespace tern::tools
