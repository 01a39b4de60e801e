// A converter is a small function that converts one TensorFlow operator to Tern ops. ConverterTable contains
// all of them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/tensorflow/edge.h"
#include "ir/builder.h"

namespace tern_tensorflow {
class NodeDef;
class AttrValue;
}  // namespace tern_tensorflow

namespace tern::tensorflow {

class BodyImporter;
struct ModelContext;

// A TensorFlow node during import. A converter reads its inputs and attributes, emits Tern ops with Op, and
// sets its outputs with Out.
class TfNode {
 public:
  TfNode(BodyImporter& importer, const tern_tensorflow::NodeDef& proto, std::vector<Edge*> inputs,
         Builder& builder);

  Builder& b;
  const std::string& op() const;
  const std::string& name() const;
  ModelContext& model();
  BodyImporter& importer() { return importer_; }

  int InputCount() const { return static_cast<int>(inputs_.size()); }
  Edge& At(int i);
  // Returns a tensor in TensorFlow's layout. Never null: if input i is absent or is not a tensor, reports an
  // error to `b` and returns a scalar.
  Value* In(int i);
  // Returns the inputs `from` to `to` - 1. A negative `to` counts from the end: -1 includes the last input,
  // and -2 does not.
  std::vector<Value*> Ins(int from, int to);
  // Like In, with the channels (the last axis) moved to axis 1.
  Value* ChannelsFirst(int i);
  // Returns whether input i exists only with channels first, so that an op with this layout needs no
  // Transpose.
  bool PrefersChannelsFirst(int i);
  bool IsComplex(int i) { return At(i).complex; }

  void Out(int i, Edge edge);
  void OutChannelsFirst(int i, Value* value);
  void Outs(const std::vector<Value*>& values);
  const std::vector<Edge>& outputs() const { return outputs_; }

  // Emits a node and returns its first output. If the result is known (small constants, or the dims of known
  // shapes), returns a constant instead.
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  Value* Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs = {});
  std::vector<Value*> Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                          int outputs);
  // Shorter forms.
  Value* Unary(const char* kind, Value* x) { return Op("Unary", {x}, {{"kind", kind}}); }
  Value* Binary(const char* kind, Value* x, Value* y) { return Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* Cast(Value* x, DType to);
  // A tensor for attributes. Reports an error if the type is not one of numbers.
  Tensor Numbers(DType dtype, const Dims& dims, const std::vector<double>& values);
  Value* Like(Value* x, double v);  // a scalar of x's type
  Value* Reshape(Value* x, const std::vector<int64_t>& dims);
  Value* Transpose(Value* x, const std::vector<int64_t>& perm);
  Value* Squeeze(Value* x, const std::vector<int64_t>& axes) { return Op("Squeeze", {x, b.Ints(axes)}); }
  Value* Unsqueeze(Value* x, const std::vector<int64_t>& axes) { return Op("Unsqueeze", {x, b.Ints(axes)}); }
  Value* Concat(const std::vector<Value*>& parts, int64_t axis) {
    return Op("Concat", parts, {{"axis", axis}});
  }
  Value* Slice(Value* x, int64_t axis, int64_t start, int64_t end);
  Value* Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep_dims);
  Value* ShapeOf(Value* x) { return Op("Shape", {x}); }  // i64[rank]
  Value* DimOf(Value* x, int64_t axis);                  // i64[1]
  Value* Vector(Value* x) { return Reshape(x, {-1}); }   // a scalar as a vector of length 1
  Value* Scalar(Value* x) { return Reshape(x, {}); }     // a vector of length 1 as a scalar

  DType TypeOf(int i) { return In(i)->type.dtype; }
  Result<int> RankOf(int i);  // fails if the rank is unknown
  Result<int> RankOf(const Value* value);
  // Inputs whose elements are known at import.
  const Tensor* Constant(int i);                                // null if input i is not a constant
  Result<std::vector<int64_t>> Longs(int i, const char* what);  // fails if input i is not known at import
  Result<int64_t> Long(int i, const char* what);
  Result<int64_t> Axis(int i, int rank);  // a known axis, normalised to [0, rank)
  Result<double> Number(int i, const char* what);

  bool HasAttr(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  float Float(std::string_view name) const;
  std::string Text(std::string_view name) const;
  std::vector<int64_t> Ints(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  Result<DType> DTypeAttr(std::string_view name) const;
  Result<Shape> ShapeAttr(std::string_view name) const;
  std::string Function(std::string_view name) const;  // the name of a function, or ""
  // Returns the attribute as stored, or its default, or null.
  const tern_tensorflow::AttrValue* Raw(std::string_view name) const;

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this node.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  std::string Describe() const;

 private:
  BodyImporter& importer_;
  const tern_tensorflow::NodeDef& proto_;
  std::vector<Edge*> inputs_;
  std::vector<Edge> outputs_;
};

using Converter = std::function<Status(TfNode&)>;

class ConverterTable {
 public:
  void Add(const char* op, Converter converter);
  const Converter* Find(std::string_view op) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Converter, std::less<>> table_;
};

const ConverterTable& Converters();

}  // namespace tern::tensorflow

// Defines the converters of one source file. The build finds these definitions and registers the converters.
// Example: TERN_CONVERTERS(elementwise) { table.Add("Abs", …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)
