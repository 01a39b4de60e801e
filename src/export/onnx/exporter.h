// Defines how Tern ops become ONNX operators: a table of small functions, one per op.
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

// The default opset of an exported model. An operator or element type may require a later one
// (TernNode::NeedOpset).
inline constexpr int kExportOpset = 21;
inline constexpr int kExportMlOpset = 3;
inline constexpr const char* kContrib = "com.microsoft";

// A Tern node during export. Names its values and emits ONNX nodes.
class TernNode {
 public:
  TernNode(GraphExporter& exporter, const Node& tern_node) : node(tern_node), exporter_(exporter) {}
  const Node& node;

  const Attrs& attrs() const { return node.attrs; }
  bool Has(int i) const { return node.input(i) != nullptr; }
  const Type& TypeOf(int i) const { return node.input(i)->type; }
  std::string In(int i) const;   // "" when absent
  std::string Out(int i) const;  // "" beyond the last
  // Overrides the name that In and Out return for an input or an output.
  void SetIn(int i, std::string name) { other_ins_[i] = std::move(name); }
  void SetOut(int i, std::string name) { other_outs_[i] = std::move(name); }
  std::vector<std::string> Ins() const;
  std::vector<std::string> Outs() const;
  std::string Temp();                  // a fresh name
  std::string Const(const Tensor& t);  // an initializer
  std::string Ints(const std::vector<int64_t>& v) { return Const(Tensor::Ints(v)); }
  std::string Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }

  // Emits a node and returns the name of its first output. DType attributes become ONNX type numbers, bools
  // become ints.
  std::string Emit(const char* op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const AttrList& attrs = {},
                   const char* domain = "");
  // Emits a node with one output of a fresh name.
  std::string Op(const char* op, const std::vector<std::string>& inputs, const AttrList& attrs = {},
                 const char* domain = "") {
    return Emit(op, inputs, {Temp()}, attrs, domain);
  }
  // Returns the name of a value that several nodes share. The first call with `key` runs `make`, which emits
  // the value and returns its name.
  std::string Once(const std::string& key, const std::function<std::string()>& make);
  // Whether com.microsoft operators may be emitted for floats of this type.
  bool Contrib(DType type) const;

  // An emitted operator may also cover a later node. NameOf names the values of that node; TakeOver marks it
  // as exported.
  std::string NameOf(const Value* value) const;
  void TakeOver(const Node& later);

  // Attaches the node's subgraphs, in order, as graph attributes of the last emitted ONNX node.
  Status EmitSubgraphs(const std::vector<const char*>& attrs);
  // Adds a type attribute to the last emitted ONNX node.
  void EmitTypeAttr(const char* attr, const Type& type);
  // Raise the model's opset to at least `version`. NeedMlOpset raises the opset of ai.onnx.ml.
  void NeedOpset(int version);
  void NeedMlOpset(int version);
  // Renames the inputs and outputs of the last emitted node's subgraph. The names may shadow those of
  // enclosing graphs.
  void NameSubgraph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  template <class... A> Status NotExportable(const A&... a) const {
    return Unsupported(node.Describe(), " has no ONNX form: ", a...);
  }

 private:
  GraphExporter& exporter_;
  std::map<int, std::string> other_ins_, other_outs_;
};

// Whether x and y are [N, spatial…, C], a layout that ONNX lacks. TypeOf then returns dims in that order too.
bool ChannelsLast(const Attrs& attrs);

using Exporter = std::function<Status(TernNode&)>;

class ExporterTable {
 public:
  void Add(const char* tern_op, Exporter exporter);
  const Exporter* Find(std::string_view tern_op) const;

 private:
  std::map<std::string, Exporter, std::less<>> table_;
};

// Returns an exporter that keeps inputs and outputs and copies the listed attributes: "axis", or "dim=axis"
// to write Tern's `dim` as ONNX's `axis`.
Exporter DirectTo(const char* onnx_op, std::vector<std::string> attrs = {}, AttrList fixed = {},
                  const char* domain = "");

struct ExportOptions {
  // Stores tensors of 1 KiB and more in `<path>.data`. A model over 1.5 GiB is always stored that way.
  bool external_data = false;
  // Writes fused ops as com.microsoft operators, as onnxruntime's own optimizer does.
  bool contrib = false;
};
// Returns one message that contains the weights. Fails if they have more than 1.5 GiB.
Result<std::string> ExportBytes(const Graph& graph, const ExportOptions& options = {});
// Returns the number of nodes written, nested graphs included.
Result<int64_t> ExportFile(const Graph& graph, const std::string& path, const ExportOptions& options = {});

}  // namespace tern::onnx

// Defines the exporters of one source file; the build finds these lines and registers them.
#define TERN_EXPORTERS(Family) void TernExporters_##Family([[maybe_unused]] ExporterTable& table)
