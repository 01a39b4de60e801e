// Converts TensorArray operators of TF1. The flow is the list of elements, and the handle contains their
// type.
#include "import/tensorflow/ops/list.h"

namespace tern::tensorflow {
namespace {

Status NewArray(TfNode& n) {
  Edge handle;
  handle.resource = std::make_shared<Resource>();
  handle.resource->kind = Resource::Kind::kArray;
  handle.resource->name = n.name();
  TERN_ASSIGN(handle.resource->dtype, n.DTypeAttr("dtype"));
  if (IsComplex(handle.resource->dtype)) return n.NotYet("arrays of complex numbers");
  TERN_ASSIGN(handle.resource->element, n.ShapeAttr("element_shape"));
  n.Out(0, handle);
  n.Out(1, ReserveList(n, handle.resource->dtype, handle.resource->element,
                       n.Cast(n.Vector(n.In(0)), DType::kI64)));
  return {};
}

Status Read(TfNode& n) {
  n.Out(0, ListItem(n, n.At(2), n.In(1)));
  return {};
}

// Inputs: handle, index, value, flow.
Status Write(TfNode& n) {
  n.Out(0, ListWith(n, n.At(3), n.In(1), n.In(2)));
  return {};
}

// Inputs: handle, indices, flow.
Status ArrayGather(TfNode& n) {
  TERN_ASSIGN(const Shape element, n.ShapeAttr("element_shape"));
  n.Out(0, n.Op("Gather", {StackList(n, n.At(2), element), n.In(1)}, {{"axis", 0}}));
  return {};
}

// Inputs: handle, indices, value, flow.
Status ArrayScatter(TfNode& n) {
  Value* value = n.In(2);
  TERN_ASSIGN(const int rank, n.RankOf(value));
  std::vector<Value*> dims = {ListLength(n, n.At(3))};
  if (rank > 1) dims.push_back(n.Op("Shape", {value}, {{"start", 1}}));
  Value* shape = dims.size() == 1 ? dims[0] : n.Concat(dims, 0);
  Value* zeros = n.Op("Fill", {shape}, {{"value", n.Numbers(value->type.dtype, {1}, {0})}});
  n.Out(0, ListFrom(n.Op("ScatterND", {zeros, n.Unsqueeze(n.Cast(n.In(1), DType::kI64), {1}), value})));
  return {};
}

Status ArraySize(TfNode& n) {
  n.Out(0, n.Cast(n.Scalar(ListLength(n, n.At(1))), DType::kI32));
  return {};
}

Status ArrayConcat(TfNode& n) {
  n.Out(0, n.b.Op("ConcatFromSequence", {SequenceOf(n, n.At(1))}, {{"axis", 0}, {"new_axis", false}}));
  return {};
}

Status ArraySplit(TfNode& n) {
  n.Out(0, n.b.Op("SplitToSequence", {n.In(1), n.In(2)}, {{"axis", 0}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(tensor_array) {
  table.Add("TensorArrayV3", NewArray);
  table.Add("TensorArrayReadV3", Read);
  table.Add("TensorArrayWriteV3", Write);
  table.Add("TensorArrayGatherV3", ArrayGather);
  table.Add("TensorArrayScatterV3", ArrayScatter);
  table.Add("TensorArraySizeV3", ArraySize);
  table.Add("TensorArrayConcatV3", ArrayConcat);
  table.Add("TensorArraySplitV3", ArraySplit);
  table.Add("TensorArrayCloseV3", [](TfNode&) -> Status { return {}; });
}

}  // namespace tern::tensorflow
