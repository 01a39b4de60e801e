// How Tern ops become ONNX operators: a table of small functions, each seeing one node.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace tern_onnx {
class GraphProto;
class NodeProto;
}  // namespace tern_onnx

namespace tern::onnx {

class GraphExporter;

// The opset everything is written in, unless an operator or element type needs a later one
// (TernNode::NeedOpset).
inline constexpr int kExportOpset = 21;
inline constexpr int kExportMlOpset = 3;
inline constexpr const char* kContrib = "com.microsoft";

// One Tern node during export: names its values, emits ONNX nodes.
class TernNode {
 public:
  TernNode(GraphExporter& exporter, const Node& tern_node) : node(tern_node), exporter_(exporter) {}
  const Node& node;

  const Attrs& attrs() const { return node.attrs; }
  bool Has(int i) const { return node.input(i) != nullptr; }
  const Type& TypeOf(int i) const { return node.input(i)->type; }
  std::string In(int i) const;   // "" when absent
  std::string Out(int i) const;  // "" beyond the last
  // Other names for an input and an output, as In and Out give them from here on.
  void SetIn(int i, std::string name) { other_ins_[i] = std::move(name); }
  void SetOut(int i, std::string name) { other_outs_[i] = std::move(name); }
  std::vector<std::string> Ins() const;
  std::vector<std::string> Outs() const;
  std::string Temp();                  // a fresh name
  std::string Const(const Tensor& t);  // an initializer
  std::string Ints(const std::vector<int64_t>& v) { return Const(Tensor::Ints(v)); }
  std::string Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }

  // Emits a node; attributes whose value is a DType become ONNX type numbers, bools become ints. Returns its
  // first output.
  std::string Emit(const char* op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const AttrList& attrs = {},
                   const char* domain = "");
  // The same with a fresh output.
  std::string Op(const char* op, const std::vector<std::string>& inputs, const AttrList& attrs = {},
                 const char* domain = "") {
    return Emit(op, inputs, {Temp()}, attrs, domain);
  }
  // A value that several nodes need, emitted for the first of them: `make` gives its name.
  std::string Once(const std::string& key, const std::function<std::string()>& make);
  // Whether operators that onnxruntime adds to ONNX may be used, for floats of this type.
  bool Contrib(DType type) const;

  // For an operator that stands for a later node too: the name of a value, and that its maker is done.
  std::string NameOf(const Value* value) const;
  void TakeOver(const Node& later);

  // Attaches the node's subgraphs, in order, as graph attributes of the last emitted ONNX node.
  Status EmitSubgraphs(const std::vector<const char*>& attrs);
  // A type as attribute of the last emitted ONNX node.
  void EmitTypeAttr(const char* attr, const Type& type);
  // What is emitted needs this opset or a later one; the second is ai.onnx.ml's.
  void NeedOpset(int version);
  void NeedMlOpset(int version);
  // Gives the inputs and outputs of the last emitted node's subgraph these names, whatever the graphs around
  // have.
  void NameSubgraph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  template <class... A> Status NotExportable(const A&... a) const {
    return Unsupported(node.Describe(), " has no ONNX form: ", a...);
  }

 private:
  GraphExporter& exporter_;
  std::map<int, std::string> other_ins_, other_outs_;
};

// x and y are [N, spatial…, C], which ONNX does not know. TypeOf gives that order too.
bool ChannelsLast(const Attrs& attrs);

using Exporter = std::function<Status(TernNode&)>;

class ExporterTable {
 public:
  void Add(const char* tern_op, Exporter exporter);
  const Exporter* Find(std::string_view tern_op) const;

 private:
  std::map<std::string, Exporter, std::less<>> table_;
};

// The common case: same inputs and outputs, the listed attributes copied ("axis", or "dim=axis" for Tern
// `dim` as ONNX `axis`).
Exporter DirectTo(const char* onnx_op, std::vector<std::string> attrs = {}, AttrList fixed = {},
                  const char* domain = "");

struct ExportOptions {
  // Tensors of 1 KiB and more go to `<path>.data`, as when the whole is over 1.5 GB.
  bool external_data = false;
  // Fused ops as operators of com.microsoft, as onnxruntime's own optimizer writes them.
  bool contrib = false;
};
// One message, weights inside; error over 2 GB.
Result<std::string> ExportBytes(const Graph& graph, const ExportOptions& options = {});
// The number of nodes written, those of nested graphs among them.
Result<int64_t> ExportFile(const Graph& graph, const std::string& path, const ExportOptions& options = {});

}  // namespace tern::onnx

// A file's exporters; the build finds these lines.
#define TERN_EXPORTERS(Family) void TernExporters_##Family([[maybe_unused]] ExporterTable& table)
