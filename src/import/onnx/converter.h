// Defines how ONNX operators become Tern ops: a table of small functions, one per operator.
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

// An ONNX node during import. Reads inputs and attributes, emits Tern ops through `b`, and names the outputs.
class OnnxNode {
 public:
  OnnxNode(GraphImporter& importer, const tern_onnx::NodeProto& proto, Builder& builder, int opset_version);

  Builder& b;
  const int opset;  // version of the node's domain
  const std::string& op() const;
  const std::string& domain() const;  // "" for ai.onnx

  int InputCount() const;
  int OutputCount() const;
  bool Has(int input) const;      // present and not the empty name
  Value* In(int i) const;         // null when absent
  bool Wants(int output) const;   // present and not the empty name
  void Out(int i, Value* value);  // the i-th ONNX output is this value
  void Out(const std::vector<Value*>& values);

  DType TypeOf(int i) const { return In(i) ? In(i)->type.dtype : DType::kInvalid; }
  int RankOf(int i) const { return In(i) ? In(i)->type.shape.rank() : -1; }  // -1: unknown
  const Tensor* Constant(int i) const;                                       // null unless constant
  std::optional<std::vector<int64_t>> Longs(int i) const;                    // a constant input's integers

  bool HasAttr(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise = 0) const;
  float Float(std::string_view name, float otherwise = 0) const;
  std::string Text(std::string_view name, std::string otherwise = "") const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> Floats(std::string_view name, std::vector<float> otherwise = {}) const;
  std::vector<std::string> Texts(std::string_view name) const;
  Result<Tensor> TensorAttr(std::string_view name) const;                 // dense or sparse
  Result<DType> DTypeAttr(std::string_view name, DType otherwise) const;  // an ONNX type number
  Type TypeAttr(std::string_view name) const;                             // a type_proto
  std::vector<std::string> AttrNames() const;

  // Fills a subgraph of an opened node (Builder::Open) from a graph attribute. types: the types of the body's
  // inputs, for bodies that do not declare them.
  Status Subgraph(Node* node, std::string_view attr, std::string role, const std::vector<Type>& types = {});
  // Inlines a graph attribute's nodes with its inputs bound to these values; returns its outputs.
  Result<std::vector<Value*>> Inline(std::string_view attr, const std::vector<Value*>& inputs);
  // Return the number of inputs and outputs of the graph attribute.
  int SubgraphInputs(std::string_view attr) const;
  int SubgraphOutputs(std::string_view attr) const;

  // Errors that name this node.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  std::string Describe() const;
  // Returns the attribute as stored, or null if it is absent. Resolves references to attributes of a function
  // call.
  const tern_onnx::AttributeProto* Raw(std::string_view name) const;

 private:
  // Returns the attribute, or null if it is absent. If its kind is not `kind` (a number of ONNX's
  // AttributeType), returns null and reports an error to `b`.
  const tern_onnx::AttributeProto* Typed(std::string_view name, int kind) const;
  GraphImporter& importer_;
  const tern_onnx::NodeProto& proto_;
};

using Converter = std::function<Status(OnnxNode&)>;

// Converters by domain and operator. A converter handles every version of its operator.
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

// Returns a converter for an operator that is a Tern op with the same inputs and outputs. Copies these ONNX
// attributes unchanged; absent ones keep Tern's default. {"alpha", "axis=dim"} renames ONNX's `axis` to
// Tern's `dim`.
Converter Direct(const char* tern_op, std::vector<std::string> attrs = {}, AttrList fixed = {});

}  // namespace tern::onnx

// Defines the converters of one source file; the build finds these lines and registers them.
// TERN_CONVERTERS(elementwise) { table.Add("Abs", …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)
