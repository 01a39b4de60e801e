// Exporters are small functions. Each one converts one Tern op to ONNX operators.
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

// The default opset of an exported model. If an operator or element type requires a later opset, the exporter
// raises the model's opset (TernNode::NeedOpset).
inline constexpr int kExportOpset = 21;
inline constexpr int kExportMlOpset = 3;
inline constexpr const char* kContrib = "com.microsoft";

// A Tern node during export. Its functions return the ONNX names of its inputs and outputs, and emit ONNX
// nodes.
class TernNode {
 public:
  TernNode(GraphExporter& exporter, const Node& tern_node) : node(tern_node), exporter_(exporter) {}
  const Node& node;

  const Attrs& attrs() const { return node.attrs; }
  bool Has(int i) const { return node.input(i) != nullptr; }
  const Type& TypeOf(int i) const { return node.input(i)->type; }
  std::string In(int i) const;   // the name of input i; "" if it is absent
  std::string Out(int i) const;  // the name of output i; "" if the node has fewer outputs
  // Overrides the name that In and Out return for an input or an output.
  void SetIn(int i, std::string name) { other_ins_[i] = std::move(name); }
  void SetOut(int i, std::string name) { other_outs_[i] = std::move(name); }
  std::vector<std::string> Ins() const;
  std::vector<std::string> Outs() const;
  std::string Temp();                  // returns a new unique name
  std::string Const(const Tensor& t);  // adds an initializer and returns its name
  std::string Ints(const std::vector<int64_t>& v) { return Const(Tensor::Ints(v)); }
  std::string Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }

  // Emits an ONNX node and returns the name of its first output. Writes an attribute of type DType as the
  // number of ONNX's data type, and a bool as an integer.
  std::string Emit(const char* op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const AttrList& attrs = {},
                   const char* domain = "");
  // Emits an ONNX node with one output. Returns the name of the output, which is new and unique.
  std::string Op(const char* op, const std::vector<std::string>& inputs, const AttrList& attrs = {},
                 const char* domain = "") {
    return Emit(op, inputs, {Temp()}, attrs, domain);
  }
  // Returns the name of a value that is emitted once and read by several exported nodes. The first call with
  // `key` calls `make`, which emits the value and returns its name. Later calls with the same key return the
  // same name.
  std::string Once(const std::string& key, const std::function<std::string()>& make);
  // Returns whether the exporter may emit com.microsoft operators on tensors of this type.
  bool Contrib(DType type) const;

  // An emitted operator may also compute a later Tern node. NameOf returns the name of a value of the later
  // node. TakeOver marks the later node as exported.
  std::string NameOf(const Value* value) const;
  void TakeOver(const Node& later);

  // Attaches the node's subgraphs, in order, as graph attributes of the last emitted ONNX node.
  Status EmitSubgraphs(const std::vector<const char*>& attrs);
  // Adds a type attribute to the last emitted ONNX node.
  void EmitTypeAttr(const char* attr, const Type& type);
  // NeedOpset raises the model's opset to at least `version`. NeedMlOpset does so for the opset of
  // ai.onnx.ml.
  void NeedOpset(int version);
  void NeedMlOpset(int version);
  // Renames the inputs and outputs of the subgraph of the last emitted ONNX node. If a value of an enclosing
  // graph has one of these names, the subgraph can no longer read that value.
  void NameSubgraph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  template <class... A> Status NotExportable(const A&... a) const {
    return Unsupported(node.Describe(), " has no ONNX form: ", a...);
  }

 private:
  GraphExporter& exporter_;
  std::map<int, std::string> other_ins_, other_outs_;
};

// Returns whether input x and output y are [N, spatial…, C]. ONNX does not have this layout, so the exporter
// adds Transposes around the operator. TernNode::TypeOf still returns the dims of the Tern node, in this
// order.
bool ChannelsLast(const Attrs& attrs);

using Exporter = std::function<Status(TernNode&)>;

class ExporterTable {
 public:
  void Add(const char* tern_op, Exporter exporter);
  const Exporter* Find(std::string_view tern_op) const;

 private:
  std::map<std::string, Exporter, std::less<>> table_;
};

// Returns an exporter that emits the operator `onnx_op` with the inputs and outputs of the Tern node. The
// exporter writes the Tern attributes that `attrs` lists. "axis" means that the ONNX attribute has the same
// name. "dim=axis" means that Tern's `dim` becomes ONNX's `axis`. The exporter also writes the attributes
// `fixed`.
Exporter DirectTo(const char* onnx_op, std::vector<std::string> attrs = {}, AttrList fixed = {},
                  const char* domain = "");

struct ExportOptions {
  // Stores constants of 1 KiB or more in the file `<path>.data`, except strings and constants of nested
  // graphs. ExportFile always does so if the weights exceed 1.5 GiB. ExportBytes ignores this option.
  bool external_data = false;
  // Writes fused ops as com.microsoft operators, as onnxruntime's own optimizer does.
  bool contrib = false;
};
// Returns a serialized ONNX model that contains the weights. Fails if an op has no ONNX form, or if the
// weights exceed 1.5 GiB.
Result<std::string> ExportBytes(const Graph& graph, const ExportOptions& options = {});
// Writes an ONNX file. Returns the number of nodes written, including those of nested graphs. Fails if an op
// has no ONNX form or a file cannot be written.
Result<int64_t> ExportFile(const Graph& graph, const std::string& path, const ExportOptions& options = {});

}  // namespace tern::onnx

// Defines the exporters of one source file, for example TERN_EXPORTERS(basic) { table.Add("Identity", …); }
// The build finds these lines and registers the exporters.
#define TERN_EXPORTERS(Family) void TernExporters_##Family([[maybe_unused]] ExporterTable& table)
