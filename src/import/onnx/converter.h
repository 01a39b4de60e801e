// A converter is a small function that converts one ONNX operator to Tern ops. ConverterTable contains all of
// them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace tern_onnx {
class NodeProto;
class AttributeProto;
}  // namespace tern_onnx

namespace tern::onnx {

class GraphImporter;

// An ONNX node during import. A converter reads its inputs and attributes, emits Tern ops through `b`, and
// sets its outputs with Out.
class OnnxNode {
 public:
  OnnxNode(GraphImporter& importer, const tern_onnx::NodeProto& proto, Builder& builder, int opset_version);

  Builder& b;
  const int opset;  // opset version of the node's domain
  const std::string& op() const;
  const std::string& domain() const;  // "" for ai.onnx

  int InputCount() const;
  int OutputCount() const;
  bool Has(int input) const;
  Value* In(int i) const;        // null if the node does not have input i
  bool Wants(int output) const;  // whether the node lists this output with a name
  void Out(int i, Value* value);
  void Out(const std::vector<Value*>& values);  // sets outputs 0, 1, …

  DType TypeOf(int i) const { return In(i) ? In(i)->type.dtype : DType::kInvalid; }
  int RankOf(int i) const { return In(i) ? In(i)->type.shape.rank() : -1; }  // -1 if unknown
  const Tensor* Constant(int i) const;                     // null if input i is not a constant
  std::optional<std::vector<int64_t>> Longs(int i) const;  // nullopt if input i is not a constant of integers

  bool HasAttr(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise = 0) const;
  float Float(std::string_view name, float otherwise = 0) const;
  std::string Text(std::string_view name, std::string otherwise = "") const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> Floats(std::string_view name, std::vector<float> otherwise = {}) const;
  std::vector<std::string> Texts(std::string_view name) const;
  Result<Tensor> TensorAttr(std::string_view name) const;  // dense or sparse
  // Reads an attribute that is a number of ONNX's TensorProto.DataType.
  Result<DType> DTypeAttr(std::string_view name, DType otherwise) const;
  Type TypeAttr(std::string_view name) const;  // reads an attribute that is a TypeProto
  std::vector<std::string> AttrNames() const;

  // Adds a subgraph with this role to a node that Builder::Open returned, and imports a graph attribute into
  // the subgraph. `types` are the types of the subgraph's inputs if the attribute does not declare them.
  Status Subgraph(Node* node, std::string_view attr, std::string role, const std::vector<Type>& types = {});
  // Adds the nodes of a graph attribute to the graph that contains this node. `inputs` replace the inputs of
  // the attribute's graph. Returns the values of its outputs.
  Result<std::vector<Value*>> Inline(std::string_view attr, const std::vector<Value*>& inputs);
  // Return the number of inputs and outputs of the graph attribute.
  int SubgraphInputs(std::string_view attr) const;
  int SubgraphOutputs(std::string_view attr) const;

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this node.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  // Records a warning about a part of this node that the import ignores. Users see the warning after the
  // model is read.
  template <class... A> void Warn(const A&... a) const { AddWarning(Describe() + ": " + StrCat(a...)); }
  std::string Describe() const;
  // Returns the attribute as stored, or null if it is absent. In a function body, an attribute may refer by
  // ref_attr_name to an attribute of the function's call. Then returns the attribute of the call.
  const tern_onnx::AttributeProto* Raw(std::string_view name) const;

 private:
  void AddWarning(std::string text) const;
  // Returns the attribute, or null if it is absent. `kind` is a number of ONNX's AttributeType. If the
  // attribute cannot be read as this kind, returns null and reports an error to `b`.
  const tern_onnx::AttributeProto* Typed(std::string_view name, int kind) const;
  GraphImporter& importer_;
  const tern_onnx::NodeProto& proto_;
};

using Converter = std::function<Status(OnnxNode&)>;

// Maps a domain and an operator to a converter. A converter handles every version of its operator.
class ConverterTable {
 public:
  void Add(const char* op, Converter converter, const char* domain = "");
  const Converter* Find(std::string_view domain, std::string_view op) const;
  std::vector<std::string> Names() const;  // "Conv", "com.microsoft.FastGelu"

 private:
  std::map<std::string, Converter, std::less<>> table_;
};

inline constexpr const char* kMl = "ai.onnx.ml";
inline constexpr const char* kMicrosoft = "com.microsoft";
inline constexpr const char* kTraining = "ai.onnx.preview.training";

// Returns a converter for an operator that has the same inputs and outputs as a Tern op. The converter copies
// the ONNX attributes that `attrs` names. With attrs {"alpha", "axis=dim"}, ONNX's `alpha` keeps its name,
// and ONNX's `axis` becomes Tern's `dim`. If the node does not have such an attribute, Tern's default
// applies. The converter also sets the attributes `fixed`.
Converter Direct(const char* tern_op, std::vector<std::string> attrs = {}, AttrList fixed = {});

}  // namespace tern::onnx

// Defines the converters of one source file. The build finds these definitions and registers the converters.
// Example: TERN_CONVERTERS(elementwise) { table.Add("Abs", …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)
