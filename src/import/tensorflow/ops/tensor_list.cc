// Converts TensorList operators.
#include "import/tensorflow/ops/list.h"

namespace tern::tensorflow {
namespace {

// Returns the shape that an input contains, as far as it is known. A scalar -1 means an unknown rank.
Shape ShapeInput(TfNode& n, int i) {
  const Value* v = n.In(i);
  if (v->type.shape.rank() == 0 || v->type.shape.rank() < 0) return {};
  std::vector<Dim> dims;
  if (v->is_constant()) {
    for (const int64_t d : ToLongs(v->constant)) dims.push_back(d < 0 ? Dim::Unknown() : Dim(d));
    return Shape(std::move(dims));
  }
  if (v->content) {
    for (const Dim& d : *v->content) dims.push_back(d.known() && d.value() >= 0 ? d : Dim::Unknown());
    return Shape(std::move(dims));
  }
  if (!v->type.shape[0].known()) return {};
  return Shape(std::vector<Dim>(static_cast<size_t>(v->type.shape[0].value()), Dim::Unknown()));
}

Status ListAt(TfNode& n, int i) {
  const Edge& edge = n.At(i);
  if (!edge.value || (!edge.stacked && edge.value->type.kind != Type::Kind::kSequence))
    return n.NotYet("input ", i, " is not a list of tensors");
  if (edge.complex) return n.NotYet("lists of complex numbers");
  return {};
}

Value* Count(TfNode& n, int i) { return n.Cast(n.Vector(n.In(i)), DType::kI64); }

Status Reserve(TfNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("element_dtype"));
  n.Out(0, ReserveList(n, dtype, ShapeInput(n, 0), Count(n, 1)));
  return {};
}

Status EmptyList(TfNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("element_dtype"));
  n.Out(0, n.b.Op("SequenceEmpty", {}, {{"dtype", dtype}}));
  return {};
}

Status FromTensor(TfNode& n) {
  if (n.IsComplex(0)) return n.NotYet("lists of complex numbers");
  n.Out(0, ListFrom(n.In(0)));
  return {};
}

Status GetItem(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, ListItem(n, n.At(0), n.In(1)));
  return {};
}

Status SetItem(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, ListWith(n, n.At(0), n.In(1), n.In(2)));
  return {};
}

Status Stack(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, StackList(n, n.At(0), ShapeInput(n, 1)));
  return {};
}

Status Length(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, n.Cast(n.Scalar(ListLength(n, n.At(0))), DType::kI32));
  return {};
}

Status PushBack(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, n.b.Op("SequenceInsert", {SequenceOf(n, n.At(0)), n.In(1)}));
  return {};
}

Status PopBack(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  Value* list = SequenceOf(n, n.At(0));
  n.Out(0, n.b.Op("SequenceErase", {list}));
  n.Out(1, n.b.Op("SequenceAt", {list, n.b.Scalar(DType::kI64, -1)}));
  return {};
}

Status ListGather(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  n.Out(0, n.Op("Gather", {StackList(n, n.At(0), ShapeInput(n, 2)), n.In(1)}, {{"axis", 0}}));
  return {};
}

// Writes the elements of `tensor` to the positions `indices` of a list of `count` (i64[1]) elements.
Status ScatterInto(TfNode& n, Value* tensor, Value* indices, Value* count) {
  TERN_ASSIGN(const int rank, n.RankOf(tensor));
  std::vector<Value*> dims = {count};
  if (rank > 1) dims.push_back(n.Op("Shape", {tensor}, {{"start", 1}}));
  Value* shape = dims.size() == 1 ? count : n.Concat(dims, 0);
  Value* zeros = n.Op("Fill", {shape}, {{"value", n.Numbers(tensor->type.dtype, {1}, {0})}});
  n.Out(0, ListFrom(n.Op("ScatterND", {zeros, n.Unsqueeze(n.Cast(indices, DType::kI64), {1}), tensor})));
  return {};
}

Status ListScatter(TfNode& n) {
  Value* indices = n.In(1);
  Value* last = n.Op("Reduce", {n.Cast(indices, DType::kI64)}, {{"kind", "max"}, {"keep_dims", false}});
  Value* count = n.Vector(n.Binary("add", last, n.b.Scalar(DType::kI64, 1)));
  if (n.op() == "TensorListScatterV2") {
    Value* given = Count(n, 3);
    count = n.Op("Where", {n.Binary("less", given, n.b.Ints({0})), count, given});
  }
  return ScatterInto(n, n.In(0), indices, count);
}

Status ListConcat(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  Edge& list = n.At(0);
  if (!list.stacked) {
    n.Out(0, n.b.Op("ConcatFromSequence", {list.value}, {{"axis", 0}, {"new_axis", false}}));
    return {};
  }
  TERN_ASSIGN(const int rank, n.RankOf(list.value));
  if (rank < 2) return n.Bad("the elements have no axis to concatenate");
  Value* rest = n.Op("Shape", {list.value}, {{"start", 2}});
  n.Out(0, n.Op("Reshape", {list.value, n.Concat({n.b.Ints({-1}), rest}, 0)}));
  n.Out(1, n.Op("Expand", {n.Op("Gather", {n.ShapeOf(list.value), n.b.Scalar(DType::kI64, 1)}, {{"axis", 0}}),
                           n.DimOf(list.value, 0)}));
  return {};
}

Status ListSplit(TfNode& n) {
  n.Out(0, n.b.Op("SplitToSequence", {n.In(0), n.In(2)}, {{"axis", 0}}));
  return {};
}

Status ElementShape(TfNode& n) {
  TERN_TRY(ListAt(n, 0));
  TERN_ASSIGN(const DType to, n.DTypeAttr("shape_type"));
  const Edge& list = n.At(0);
  if (!list.stacked) return n.NotYet("the shape of the elements is not known");
  n.Out(0, n.Cast(n.Op("Shape", {list.value}, {{"start", 1}}), to));
  return {};
}

}  // namespace

TERN_CONVERTERS(tensor_list) {
  table.Add("TensorListReserve", Reserve);
  table.Add("EmptyTensorList", EmptyList);
  table.Add("TensorListFromTensor", FromTensor);
  table.Add("TensorListGetItem", GetItem);
  table.Add("TensorListSetItem", SetItem);
  table.Add("TensorListStack", Stack);
  table.Add("TensorListLength", Length);
  table.Add("TensorListPushBack", PushBack);
  table.Add("TensorListPopBack", PopBack);
  table.Add("TensorListGather", ListGather);
  for (const char* op : {"TensorListScatter", "TensorListScatterV2"}) table.Add(op, ListScatter);
  for (const char* op : {"TensorListConcat", "TensorListConcatV2"}) table.Add(op, ListConcat);
  table.Add("TensorListSplit", ListSplit);
  table.Add("TensorListElementShape", ElementShape);
}

}  // namespace tern::tensorflow
