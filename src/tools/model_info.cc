#include "tools/model_info.h"

#include <algorithm>

#include "import/onnx/source_info.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

using onnx::kOpsetKey;
using onnx::kSourceKey;

bool IsOpset(const std::string& key) { return StartsWith(key, kOpsetKey); }
bool IsSource(const std::string& key) { return StartsWith(key, kSourceKey); }

// Returns the header fields of the file that the model was imported from.
std::map<std::string, std::string> SourceOf(const Graph& graph) {
  std::map<std::string, std::string> fields;
  for (const auto& [key, value] : graph.metadata)
    if (IsSource(key) && !IsOpset(key)) fields[key.substr(kSourceKey.size())] = value;
  return fields;
}

// Returns the text as one line. Truncates a text of more than 160 bytes and appends its number of bytes.
std::string OneLine(const std::string& text) {
  constexpr size_t kMaxBytes = 160;
  std::string line = text.substr(0, kMaxBytes);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  while (!line.empty() && text.size() > kMaxBytes && (line.back() & 0xc0) == 0x80)
    line.pop_back();  // removes a byte of a truncated UTF-8 character
  return Printable(line) + (text.size() > kMaxBytes ? StrCat(" … (", text.size(), " bytes)") : "");
}

std::string Opsets(const Graph& graph) {
  std::string out;
  for (const auto& [key, value] : graph.metadata)
    if (IsOpset(key))
      out += StrCat(out.empty() ? "" : ", ", Printable(key.substr(kOpsetKey.size())), " ", Printable(value));
  return out;
}

std::string Line(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<11}{}\n", title, text);
}

std::string Values(const std::vector<Value*>& values) {
  std::string out;
  for (const Value* v : values)
    out += StrCat(out.empty() ? "" : ", ", Printable(v->name), " ", Printable(v->type.ToString()));
  return out;
}

void WriteValues(const char* key, const std::vector<Value*>& values, data::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const Value* v : values)
    json.BeginObject().Key("name").Text(v->name).Key("type").Text(v->type.ToString()).EndObject();
  json.EndArray();
}

void AddBodies(const Graph& graph, std::map<const Graph*, int64_t>& indices, data::JsonWriter& json) {
  for (const auto& node : graph.nodes())
    for (size_t i = 0; i < node->subgraphs().size(); ++i) {
      const Body body = BodyOf(*node, i);
      indices.emplace(body.graph, static_cast<int64_t>(indices.size()));
      json.BeginObject().Key("node").Text(node->name).Key("role").Text(body.role);
      json.Key("name").Text(body.graph->name).Key("nodes").Int(body.graph->NodeCount());
      WriteValues("inputs", body.graph->inputs(), json);
      WriteValues("outputs", body.graph->outputs(), json);
      json.EndObject();
      AddBodies(*body.graph, indices, json);
    }
}

}  // namespace

std::string ModelInfoText(const Graph& graph) {
  std::map<std::string, std::string> source = SourceOf(graph);
  const std::string format = source["ir_version"].empty() ? "" : "ONNX, ir_version " + source["ir_version"];
  std::string producer = source["producer_name"];
  if (!source["producer_version"].empty()) producer += " " + source["producer_version"];
  std::string out = Line("source", Printable(format)) + Line("opset", Opsets(graph)) +
                    Line("producer", OneLine(producer)) + Line("domain", OneLine(source["domain"])) +
                    Line("version", Printable(source["model_version"])) +
                    Line("doc", OneLine(source["doc_string"]));
  for (const auto& [key, value] : graph.metadata)
    if (!IsSource(key)) out += Line("metadata", StrCat(OneLine(key), " = ", OneLine(value)));
  return out;
}

void WriteModelInfo(const Graph& graph, data::JsonWriter& json) {
  json.Key("source").BeginObject();
  for (const auto& [field, value] : SourceOf(graph)) json.Key(field).Text(value);
  json.EndObject().Key("opsets").BeginObject();
  for (const auto& [key, value] : graph.metadata) {
    int64_t version = 0;
    if (IsOpset(key) && ParseInt(value, version)) json.Key(key.substr(kOpsetKey.size())).Int(version);
  }
  json.EndObject().Key("metadata").BeginObject();
  for (const auto& [key, value] : graph.metadata)
    if (!IsSource(key)) json.Key(key).Text(value);
  json.EndObject();
}

Body BodyOf(const Node& node, size_t index) {
  const auto& roles = node.op->subgraphs;
  return {&node, node.subgraphs()[index].get(), roles[std::min(index, roles.size() - 1)]};
}

std::string DescribeBody(const Body& body) {
  const std::string& name = body.graph->name;
  return StrCat(body.role, " graph", name == body.role ? "" : StrCat(" '", Printable(name), "'"), " (",
                Values(body.graph->inputs()), ") -> (", Values(body.graph->outputs()), ")");
}

std::map<const Graph*, int64_t> WriteBodies(const Graph& graph, data::JsonWriter& json) {
  std::map<const Graph*, int64_t> indices;
  json.Key("bodies").BeginArray();
  AddBodies(graph, indices, json);
  json.EndArray();
  return indices;
}

}  // namespace tern::tools
