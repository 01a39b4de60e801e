#include <algorithm>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/converter.h"
#include "import/tensorflow/fold.h"
#include "import/tensorflow/layout.h"
#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {

TfNode::TfNode(BodyImporter& importer, const pb::NodeDef& proto, std::vector<Edge*> inputs, Builder& builder)
    : b(builder), importer_(importer), proto_(proto), inputs_(std::move(inputs)) {}

const std::string& TfNode::op() const { return proto_.op(); }
const std::string& TfNode::name() const { return proto_.name(); }
ModelContext& TfNode::model() { return importer_.model(); }

std::string TfNode::Describe() const {
  return StrCat("node '", importer_.prefix(), proto_.name(), "' (", proto_.op(), ")");
}

Edge& TfNode::At(int i) {
  static thread_local Edge absent;
  if (i >= 0 && i < InputCount()) return *inputs_[static_cast<size_t>(i)];
  b.Fail(Bad("input ", i, " is missing"));
  return absent = Edge();
}

Value* TfNode::In(int i) {
  Edge& edge = At(i);
  if (edge.reference && !edge.value) {
    auto value = importer_.ReadVariable(*edge.resource);
    if (value.ok()) return *value;
    b.Fail(value.TakeStatus());
  }
  if (!edge.value && edge.channels_first) edge.value = ToChannelsLast(b, edge.channels_first);
  if (edge.value) return edge.value;
  b.Fail(NotYet("input ", i, " is not a tensor"));
  return b.Scalar(DType::kF32, 0);
}

std::vector<Value*> TfNode::Ins(int from, int to) {
  std::vector<Value*> values;
  const int end = to < 0 ? InputCount() + 1 + to : to;
  for (int i = from; i < end; ++i) values.push_back(In(i));
  return values;
}

Value* TfNode::ChannelsFirst(int i) {
  Edge& edge = At(i);
  if (!edge.channels_first) edge.channels_first = ToChannelsFirst(b, In(i));
  return edge.channels_first;
}

bool TfNode::PrefersChannelsFirst(int i) {
  const Edge& edge = At(i);
  return edge.channels_first && !edge.value;
}

void TfNode::Out(int i, Edge edge) {
  const auto at = static_cast<size_t>(i);
  if (at >= outputs_.size()) outputs_.resize(at + 1);
  outputs_[at] = std::move(edge);
}

void TfNode::OutChannelsFirst(int i, Value* value) {
  Edge edge;
  edge.channels_first = value;
  Out(i, edge);
}

void TfNode::Outs(const std::vector<Value*>& values) {
  for (size_t i = 0; i < values.size(); ++i) Out(static_cast<int>(i), values[i]);
}

// Returns the index of the op's input that is a shape, or pads or repeats, and so must be i64. -1 if none.
static int ShapeInput(std::string_view op) {
  if (op == "Fill") return 0;
  return op == "Reshape" || op == "Expand" || op == "Pad" || op == "Tile" ? 1 : -1;
}

Value* TfNode::Op(const char* op, const std::vector<Value*>& given, const AttrList& attrs) {
  std::vector<Value*> inputs = given;
  const int shape = ShapeInput(op);
  if (shape >= 0 && shape < static_cast<int>(inputs.size())) {
    Value*& dims = inputs[static_cast<size_t>(shape)];
    if (dims && dims->type.dtype == DType::kI32) dims = Cast(dims, DType::kI64);
  }
  Value* value = b.Op(op, inputs, attrs);
  return b.status().ok() ? Fold(value) : value;
}

Value* TfNode::Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs) {
  return Op(op, std::vector<Value*>(inputs), attrs);
}

std::vector<Value*> TfNode::Ops(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs,
                                int outputs) {
  return b.Ops(op, inputs, attrs, outputs);
}

Value* TfNode::Cast(Value* x, DType to) { return x->type.dtype == to ? x : Op("Cast", {x}, {{"to", to}}); }
Value* TfNode::Like(Value* x, double v) {
  const DType dtype = x->type.dtype;
  return b.Scalar(dtype == DType::kInvalid || dtype == DType::kString ? DType::kF32 : dtype, v);
}
Tensor TfNode::Numbers(DType dtype, const Dims& dims, const std::vector<double>& values) {
  if (IsNumeric(dtype) || dtype == DType::kBool) return Tensor::Of(dtype, dims, values);
  b.Fail(NotYet("tensors of type ", DTypeName(dtype)));
  return Tensor::Of(DType::kF32, dims, values);
}
Value* TfNode::Reshape(Value* x, const std::vector<int64_t>& dims) {
  const bool zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return Op("Reshape", {x, b.Ints(dims)}, {{"allow_zero", zero}});
}
Value* TfNode::Transpose(Value* x, const std::vector<int64_t>& perm) {
  return Op("Transpose", {x}, {{"perm", perm}});
}
Value* TfNode::Slice(Value* x, int64_t axis, int64_t start, int64_t end) {
  return Op("Slice", {x, b.Ints({start}), b.Ints({end}), b.Ints({axis})});
}
Value* TfNode::Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep_dims) {
  return Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep_dims}, {"noop_if_empty", true}});
}
Value* TfNode::DimOf(Value* x, int64_t axis) {
  return Op("Shape", {x}, {{"start", axis}, {"end", axis == -1 ? INT64_MAX : axis + 1}});
}

Result<int> TfNode::RankOf(const Value* value) {
  if (!b.status().ok()) return Status(b.status());
  const int rank = value->type.shape.rank();
  if (rank < 0) return NotYet("the rank of an input is unknown");
  return rank;
}
Result<int> TfNode::RankOf(int i) { return RankOf(In(i)); }

const Tensor* TfNode::Constant(int i) {
  const Value* v = In(i);
  return v->is_constant() ? &v->constant : nullptr;
}

Result<std::vector<int64_t>> TfNode::Longs(int i, const char* what) {
  const Tensor* t = Constant(i);
  if (!b.status().ok()) return Status(b.status());
  if (!t) return NotYet(what, " (input ", i, ") is not a constant");
  if (!IsInt(t->dtype())) return Bad(what, " (input ", i, ") is ", t->Describe(), ", but must be integers");
  return ToLongs(*t);
}

Result<int64_t> TfNode::Long(int i, const char* what) {
  TERN_ASSIGN(const auto values, Longs(i, what));
  if (values.size() != 1)
    return Bad(what, " (input ", i, ") has ", values.size(), " elements, but must have 1");
  return values[0];
}

Result<int64_t> TfNode::Axis(int i, int rank) {
  TERN_ASSIGN(const int64_t axis, Long(i, "axis"));
  if (axis < -rank || axis >= rank) return Bad("axis ", axis, " is out of range for rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

Result<double> TfNode::Number(int i, const char* what) {
  const Tensor* t = Constant(i);
  if (!b.status().ok()) return Status(b.status());
  if (!t) return NotYet(what, " (input ", i, ") is not a constant");
  if (t->size() != 1 || t->dtype() == DType::kString)
    return Bad(what, " (input ", i, ") must be one number, got ", t->Describe());
  return LoadDouble(*t, 0);
}

void ConverterTable::Add(const char* op, Converter converter) {
  const bool fresh = table_.emplace(op, std::move(converter)).second;
  TERN_CHECK(fresh, "two converters for ", op);
}

const Converter* ConverterTable::Find(std::string_view op) const {
  const auto found = table_.find(op);
  return found == table_.end() ? nullptr : &found->second;
}

std::vector<std::string> ConverterTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, converter] : table_) names.push_back(name);
  return names;
}

}  // namespace tern::tensorflow
