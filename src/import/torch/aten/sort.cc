// Sorting.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct Sorted {
  Value *values, *indices;
};

Sorted TopK(AtenNode& n, Value* x, const Arg& count, int64_t axis, bool largest) {
  Emit e(n.b);
  if (x->type.shape.rank() == 0) return {x, e.Long(0)};
  const DType t = x->type.dtype;
  Value* in = t == DType::kBool ? e.Cast(x, DType::kI32) : x;
  auto out = n.b.Ops("TopK", {in, IntVector(n.b, {count})},
                     {{"axis", axis}, {"largest", largest}, {"sorted", true}}, 2);
  return {e.Cast(out[0], t), out[1]};
}

Sorted SortAll(AtenNode& n, int64_t axis, bool descending) {
  Value* x = n.In("self");
  return TopK(n, x, x->type.shape.rank() == 0 ? Arg::Int(1) : SizeOf(n.b, x, axis), axis, descending);
}

Status Sort(AtenNode& n) {
  const Sorted s = SortAll(n, n.Int("dim", -1), n.Bool("descending"));
  n.Out({s.values, s.indices});
  return {};
}

Status ArgSort(AtenNode& n) {
  n.Out(SortAll(n, n.Int("dim", -1), n.Bool("descending")).indices);
  return {};
}

Status MSort(AtenNode& n) {
  n.Out(SortAll(n, 0, false).values);
  return {};
}

Status Top(AtenNode& n) {
  const Sorted s = TopK(n, n.In("self"), n.Get("k"), n.Int("dim", -1), n.Bool("largest", true));
  n.Out({s.values, s.indices});
  return {};
}

// Takes the element at one place of the sorted tensor.
Status Pick(AtenNode& n, Value* at) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int64_t axis = n.Int("dim", -1);
  if (x->type.shape.rank() == 0) {
    n.Out({x, e.Long(0)});
    return {};
  }
  const Sorted s = SortAll(n, axis, false);
  for (Value* v : {s.values, s.indices}) {
    Value* y = n.b.Op("Gather", {v, at}, {{"axis", axis}});
    n.Out(n.Bool("keepdim") ? e.Unsqueeze(y, {axis}) : y);
  }
  return {};
}

Status KthValue(AtenNode& n) {
  Emit e(n.b);
  Value* k = ScalarValue(n.b, n.Get("k"), DType::kI64);
  return Pick(n, e.Sub(k, e.Long(1)));
}

// Returns the middle element. Of two middle elements, returns the lower one.
Status Median(AtenNode& n) {
  Emit e(n.b);
  if (n.HasParameter("dim")) {
    Value* size = ScalarValue(n.b, SizeOf(n.b, n.In("self"), n.Int("dim", -1)), DType::kI64);
    return Pick(n, e.Div(e.Sub(size, e.Long(1)), e.Long(2)));
  }
  Value* flat = e.Reshape(n.In("self"), {-1});
  const Arg count = SizeOf(n.b, flat, 0);
  Value* size = ScalarValue(n.b, count, DType::kI64);
  const Sorted s = TopK(n, flat, count, 0, false);
  n.Out(n.b.Op("Gather", {s.values, e.Div(e.Sub(size, e.Long(1)), e.Long(2))}, {{"axis", int64_t{0}}}));
  return {};
}

Status Unique(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const bool flat = !n.HasParameter("dim");
  AttrList attrs = {{"flatten", flat}, {"sorted", n.Bool("sorted", true)}};
  if (!flat) attrs.emplace_back("axis", n.Int("dim"));
  const auto out = n.b.Ops("Unique", {x}, attrs, 4);
  n.Out(out[0]);
  n.Out(flat ? e.ReshapeTo(out[2], e.Shape(x)) : out[2]);
  if (n.schema.returns.size() > 2) n.Out(out[3]);
  return {};
}

}  // namespace

TERN_CONVERTERS(sort) {
  table.Add("aten::sort", Sort);
  table.Add("aten::argsort", ArgSort);
  table.Add("aten::msort", MSort);
  table.Add("aten::topk", Top);
  table.Add("aten::kthvalue", KthValue);
  table.Add("aten::median", Median);
  table.Add("aten::_unique", Unique);
  table.Add("aten::_unique2", Unique);
  table.Add("aten::unique_dim", Unique);
}

}  // namespace tern::torch
