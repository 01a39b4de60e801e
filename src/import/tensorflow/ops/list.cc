#include "import/tensorflow/ops/list.h"

namespace tern::tensorflow {

Edge ReserveList(TfNode& n, DType dtype, const Shape& shape, Value* count) {
  std::vector<Value*> dims = {count};
  // Unknown dims are 0, so that an element that is read before it is set cannot be taken for a result.
  for (const Dim& d : shape.dims) dims.push_back(n.b.Ints({d.known() ? d.value() : 0}));
  if (!shape.ranked) dims.push_back(n.b.Ints({0}));
  Value* all = dims.size() == 1 ? dims[0] : n.Concat(dims, 0);
  Value* zeros = n.Op("Fill", {all}, {{"value", n.Numbers(dtype, {1}, {0})}});
  Edge list(n.b.Op("SplitToSequence", {zeros}, {{"axis", 0}, {"keep_dims", false}}));
  if (!shape.ranked) list.reserved = count;
  return list;
}

Value* SequenceOf(TfNode& n, Edge& list) {
  if (!list.stacked) return list.value;
  return n.b.Op("SplitToSequence", {list.value}, {{"axis", 0}, {"keep_dims", false}});
}

static Value* Index(TfNode& n, Value* index) {
  return n.Cast(n.Op("Reshape", {index, n.b.Ints({})}), DType::kI64);
}

Value* ListItem(TfNode& n, Edge& list, Value* index) {
  if (list.stacked) return n.Op("Gather", {list.value, Index(n, index)}, {{"axis", 0}});
  return n.b.Op("SequenceAt", {list.value, Index(n, index)});
}

Value* ListWith(TfNode& n, Edge& list, Value* index, Value* item) {
  Value* at = Index(n, index);
  Value* rest = n.b.Op("SequenceErase", {SequenceOf(n, list), at});
  return n.b.Op("SequenceInsert", {rest, item, at});
}

Value* ListLength(TfNode& n, Edge& list) {
  if (list.stacked) return n.DimOf(list.value, 0);
  return n.Vector(n.b.Op("SequenceLength", {list.value}));
}

Value* StackList(TfNode& n, Edge& list, const Shape& shape) {
  if (list.stacked) return list.value;
  Value* all = n.b.Op("ConcatFromSequence", {list.value}, {{"axis", 0}, {"new_axis", true}});
  if (!shape.ranked) return all;
  int open = 0;
  std::vector<Value*> dims = {ListLength(n, list)};
  for (const Dim& d : shape.dims) {
    open += !d.known();
    dims.push_back(n.b.Ints({d.known() ? d.value() : -1}));
  }
  // A reshape with one open dim tells inference the shape.
  if (open > 1) return all;
  return n.Op("Reshape", {all, dims.size() == 1 ? dims[0] : n.Concat(dims, 0)}, {{"allow_zero", open == 0}});
}

Edge ListFrom(Value* tensor) {
  Edge list(tensor);
  list.stacked = true;
  return list;
}

}  // namespace tern::tensorflow
