#include "tools/optimize_page.h"

#include <unordered_map>

#include "data/json_writer.h"
#include "tools/cost_report.h"
#include "tools/embedded.h"

namespace tern::tools {
namespace {

// One graph. Nodes refer to each other by their place in the list.
class SideWriter {
 public:
  explicit SideWriter(data::JsonWriter& json) : json_(json) {}

  void Write(const char* title, const Graph& graph, const GraphFigures& figures) {
    const CostReport report = MakeCostReport(graph, {});
    for (size_t i = 0; i < report.layers.size(); ++i) place_[report.layers[i].node] = static_cast<int64_t>(i);
    json_.BeginObject().Key("title").Text(title).Key("flops").Number(figures.cost.flops);
    json_.Key("bytes").Number(figures.cost.bytes).Key("ms").Number(figures.estimated_ms);
    json_.Key("nodes").BeginArray();
    for (const Layer& layer : report.layers) Node(layer);
    json_.EndArray();
    Ends("inputs", graph.inputs());
    Ends("outputs", graph.outputs());
    json_.EndObject();
  }

 private:
  void Node(const Layer& layer) {
    const tern::Node& node = *layer.node;
    const Cost cost = layer.cost.value_or(Cost());
    json_.BeginObject().Key("name").Text(node.name).Key("op").Text(KindOf(node));
    json_.Key("inside").Int(inside_.count(node.graph) ? inside_[node.graph] : -1);
    for (const auto& body : node.subgraphs()) inside_[body.get()] = place_[&node];
    json_.Key("origin").Text(node.origin).Key("rule").Text(node.rule);
    json_.Key("flops").Number(cost.flops).Key("bytes").Number(cost.bytes);
    json_.Key("ms").Number(EstimateMs(cost, 1)).Key("attrs").BeginArray();
    for (const auto& entry : node.attrs.List())
      if (!entry.is_default)
        json_.BeginArray().Text(entry.name).Text(AttrToText(entry.value).substr(0, kLongest)).EndArray();
    json_.EndArray().Key("inputs").BeginArray();
    for (const Value* v : node.inputs()) Read(v);
    json_.EndArray().Key("outputs").BeginArray();
    for (const Value* v : node.outputs())
      json_.BeginObject().Key("name").Text(v->name).Key("type").Text(v->type.ToString()).EndObject();
    json_.EndArray().EndObject();
  }

  void Ends(const char* key, const std::vector<Value*>& values) {
    json_.Key(key).BeginArray();
    for (const Value* v : values) Read(v);
    json_.EndArray();
  }

  void Read(const Value* v) {
    json_.BeginObject().Key("name").Text(v ? v->name : "").Key("type").Text(v ? v->type.ToString() : "");
    const auto it = v && v->producer ? place_.find(v->producer) : place_.end();
    json_.Key("from").Int(it == place_.end() ? -1 : it->second);
    json_.Key("constant").Bool(v && v->is_constant()).EndObject();
  }

  static constexpr size_t kLongest = 200;  // of an attribute's text
  data::JsonWriter& json_;
  std::unordered_map<const tern::Node*, int64_t> place_;
  std::unordered_map<const Graph*, int64_t> inside_;  // nested graphs, by the place of the node that has them
};

// In a script element a text may not end the element.
std::string ForScript(const std::string& json) {
  std::string out;
  for (char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string Template() {
  for (const EmbeddedFile& file : EmbeddedFiles())
    if (std::string_view(file.name) == "optimize_page.html") return std::string(file.bytes());
  FailCheck(__FILE__, __LINE__, "embedded", "the page's template is not in the program");
}

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
  std::string page = Template();
  const std::string mark = "/*DATA*/";
  return page.replace(page.find(mark), mark.size(), ForScript(json.text()));
}

}  // namespace tern::tools
