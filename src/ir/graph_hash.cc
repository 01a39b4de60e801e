#include "ir/graph_hash.h"

#include <unordered_map>

#include "ir/tern_file.h"

namespace tern {
namespace {

// Writes the graph as text, with a number in place of each value's name.
class HashWriter {
 public:
  void Add(const Graph& graph) {
    text += "(";
    for (const Value* v : graph.inputs()) AddValue(v);
    text += ")";
    for (const auto& node : graph.nodes()) AddNode(*node);
    text += "->";
    for (const Value* v : graph.outputs()) AddValue(v);
  }

  std::string text;

 private:
  void AddNode(const Node& node) {
    text += StrCat("\n", node.op->name, "{");
    for (const auto& entry : node.attrs.List()) {
      text += StrCat(entry.name, "=", AttrToText(entry.value), ";");
      if (const auto* t = std::get_if<Tensor>(&entry.value)) AddData(*t);
    }
    text += "}";
    for (const Value* v : node.inputs()) AddValue(v);
    text += "->";
    for (const Value* v : node.outputs()) AddValue(v);
    for (const auto& sub : node.subgraphs()) {
      text += "[";
      Add(*sub);
      text += "]";
    }
  }

  void AddValue(const Value* v) {
    if (!v) {
      text += " _";
      return;
    }
    const auto [it, added] = numbers_.emplace(v, numbers_.size());
    text += StrCat(" ", it->second);
    if (added && v->is_constant()) AddData(v->constant);
  }

  void AddData(const Tensor& tensor) {
    text += StrCat(" ", Describe(tensor.dtype(), tensor.dims()), "=");
    if (!tensor.defined() || (tensor.bytes() && !tensor.raw())) return;
    if (tensor.dtype() == DType::kString) {
      for (const std::string& s : ToStrings(tensor)) text += QuoteText(s);
      return;
    }
    const Tensor t = tensor.Contiguous();
    text += StrCat(Checksum(t.raw(), t.bytes()));
  }

  std::unordered_map<const Value*, size_t> numbers_;
};

}  // namespace

uint64_t HashOf(const Graph& graph) {
  HashWriter writer;
  writer.Add(graph);
  return Checksum(writer.text.data(), writer.text.size());
}

}  // namespace tern
