// Converts searches: arguments of the maximum, the largest elements, sorting.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

Value* ArgOf(Emit& e, const char* kind, Value* x, int64_t axis, bool keep) {
  return e.b.Op("ArgReduce", {x}, {{"kind", kind}, {"axis", axis}, {"keep_dims", keep}});
}

// Inputs of Argmax and Argmin: x, axis, output_type.
Converter Arg(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    n.Out(e.Cast(ArgOf(e, kind, n.In(0), n.Int(1, {"axis"}, -1), false),
                 n.TypeArg(2, {"output_type"}, DType::kI32)));
    return {};
  };
}

// Inputs of ArgMaxExt and ArgMinExt: x, dim, keepdim. Without dim, the index refers to the flat tensor.
Converter ArgExt(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    if (n.Arg(1, {"dim"}))
      n.Out(ArgOf(e, kind, n.In(0), n.Int(1, {"dim"}), n.Bool(2, {"keepdim"})));
    else
      n.Out(ArgOf(e, kind, e.Reshape(n.In(0), {-1}), 0, false));
    return {};
  };
}

// ArgMaxWithValue returns the index (i32) and the value, MaxDim the value and the index (i64).
Converter ArgWithValue(const char* kind, bool index_first) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    const int64_t axis = n.Int(1, {"axis", "dim"}, 0);
    const bool keep = n.Bool(2, {"keep_dims", "keepdim"});
    Value* index = ArgOf(e, kind, n.In(0), axis, keep);
    Value* value = e.Reduce(kind, n.In(0), {axis}, keep);
    if (index_first)
      n.Out({e.Cast(index, DType::kI32), value});
    else
      n.Out({value, index});
    return {};
  };
}

std::vector<Value*> TopKOf(MindNode& n, Value* x, Value* k, int64_t axis, bool largest, DType index_type) {
  Emit e(n);
  auto parts = n.b.Ops("TopK", {x, k}, {{"axis", axis}, {"largest", largest}}, 2);
  parts[1] = e.Cast(parts[1], index_type);
  return parts;
}

Value* CountValue(MindNode& n, int i) {
  Emit e(n);
  Value* k = n.In(i);
  return k ? e.Reshape(e.Cast(k, DType::kI64), {1}) : n.b.Ints({1});
}

Status TopK(MindNode& n) {
  TERN_TRY(Require(n, 0));
  n.Out(TopKOf(n, n.In(0), CountValue(n, 1), -1, true, DType::kI32));
  return {};
}

Status TopKExt(MindNode& n) {
  TERN_TRY(Require(n, 0));
  n.Out(
      TopKOf(n, n.In(0), CountValue(n, 1), n.Int(2, {"dim"}, -1), n.Bool(3, {"largest"}, true), DType::kI64));
  return {};
}

// Sorts by a TopK whose k is the size of the axis.
Result<std::vector<Value*>> Sorted(MindNode& n, int64_t axis, bool descending, DType index_type) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, 1));
  Emit e(n);
  const int64_t positive = axis < 0 ? axis + n.RankOf(0) : axis;
  return TopKOf(n, n.In(0), e.SizeOf(n.In(0), positive), axis, descending, index_type);
}

Status Sort(MindNode& n) {
  TERN_ASSIGN(auto parts, Sorted(n, n.Int(n.kAttribute, {"axis"}, -1), n.Bool(n.kAttribute, {"descending"}),
                                 DType::kI32));
  n.Out(parts);
  return {};
}

Status SortExt(MindNode& n) {
  TERN_ASSIGN(auto parts, Sorted(n, n.Int(1, {"dim"}, -1), n.Bool(2, {"descending"}), DType::kI64));
  if (n.op() == "ArgSort")
    n.Out(parts[1]);
  else
    n.Out(parts);
  return {};
}

}  // namespace

TERN_CONVERTERS(sort) {
  table.Add("Argmax", Arg("max"));
  table.Add("Argmin", Arg("min"));
  table.Add("ArgMaxExt", ArgExt("max"));
  table.Add("ArgMinExt", ArgExt("min"));
  table.Add("ArgMaxWithValue", ArgWithValue("max", true));
  table.Add("ArgMinWithValue", ArgWithValue("min", true));
  table.Add("MaxDim", ArgWithValue("max", false));
  table.Add("MinDim", ArgWithValue("min", false));
  table.Add("TopK", TopK);
  table.Add("TopkExt", TopKExt);
  table.Add("Sort", Sort);
  table.Add("SortExt", SortExt);
  table.Add("ArgSort", SortExt);
}

}  // namespace tern::mindir
