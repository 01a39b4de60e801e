// Copies, casts, sizes, and operators without an effect on results.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

Status Same(AtenNode& n, const char* name) {
  n.Out(n.In(name));
  if (n.Var(name) && n.Var(name)->complex) n.results().back().tensor->complex = true;
  return {};
}

Status ToType(AtenNode& n, DType dtype) {
  Value* x = n.In("self");
  const bool complex = n.Var("self") && n.Var("self")->complex;
  if (complex && !IsComplex(dtype) && dtype != DType::kInvalid) return n.NotYet("a complex tensor as real");
  if (IsComplex(dtype)) {
    dtype = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
    if (!complex) {  // the imaginary part is 0
      Emit e(n.b);
      Value* real = e.Unsqueeze(e.Cast(x, dtype), {-1});
      n.Out(e.Concat({real, e.Mul(real, e.Like(real, 0))}, -1));
      n.results().back().tensor->complex = true;
      return {};
    }
  }
  n.Out(dtype == DType::kInvalid ? x : Emit(n.b).Cast(x, dtype));
  n.results().back().tensor->complex = complex;
  return {};
}

Status To(AtenNode& n) {
  if (n.HasParameter("other")) return ToType(n, n.TypeOf("other"));
  const Arg& dtype = n.Get("dtype");
  if (dtype.kind == Arg::Kind::kInt) return ToType(n, DTypeOfScalarType(dtype.integer));
  return ToType(n, n.Type("dtype"));
}

// A copy of src with the type and dims of self.
Status Copy(AtenNode& n) {
  Emit e(n.b);
  Value *self = n.In("self"), *src = n.In("src");
  src = e.Cast(src, self->type.dtype);
  n.Out(src->type.shape == self->type.shape ? src : e.Expand(src, e.Shape(self)));
  return {};
}

Status Dropout(AtenNode& n, const char* name) {
  if (n.Bool("train") && n.Float("p") > 0)
    return n.NotYet("dropout in training mode; export the model in evaluation mode");
  return Same(n, name);
}

Status NativeDropout(AtenNode& n) {
  if (n.Bool("train") && n.Float("p") > 0)
    return n.NotYet("dropout in training mode; export the model in evaluation mode");
  Emit e(n.b);
  Value* x = n.In("input");
  n.Out({x, e.Fill(e.Shape(x), DType::kBool, 1)});
  return {};
}

// Ignores assertions. The ops of the graph check sizes themselves, and no assertion changes a result.
Status Nothing(AtenNode& n) {
  for (size_t i = 0; i < n.schema.returns.size(); ++i) n.Return(Arg::None());
  return {};
}

Status Item(AtenNode& n) {
  Value* x = n.In("self");
  if (x->type.shape.rank() != 0) x = n.b.Op("Reshape", {x, n.b.Ints({})});
  Emit e(n.b);
  const DType t = x->type.dtype;
  n.Return(Arg::Computed(IsInt(t) ? e.Cast(x, DType::kI64) : IsFloat(t) ? e.Cast(x, DType::kF32) : x));
  return {};
}

Status SymSize(AtenNode& n) {
  Value* x = n.In("self");
  const int64_t dim = n.Int("dim");
  const int rank = x->type.shape.rank();
  if (rank >= 0 && (dim < -rank || dim >= rank)) return n.Bad("axis ", dim, " of ", x->type.ToString());
  n.Return(SizeOf(n.b, x, dim));
  return {};
}

Status Numel(AtenNode& n) {
  n.Return(Arg::Computed(n.b.Op("Size", {n.In("self")})));
  return {};
}

Status StorageOffset(AtenNode& n) {
  n.Return(Arg::Int(0));
  return {};
}

// The stride of a dim of a tensor in row-major order.
Status SymStride(AtenNode& n) {
  Value* x = n.In("self");
  const int rank = x->type.shape.rank();
  const int64_t dim = Axis(n, n.Int("dim"), rank);
  Arg stride = Arg::Int(1);
  for (int64_t i = dim + 1; i < rank; ++i) {
    TERN_ASSIGN(stride, ScalarOp(n.context, "mul", {stride, SizeOf(n.b, x, i)}, {n.name, n.origin}));
  }
  n.Return(stride);
  return {};
}

Status ScalarTensor(AtenNode& n) {
  n.Out(ScalarValue(n.b, n.Get("s"), n.Type("dtype", DType::kF32)));
  return {};
}

Status TypeAs(AtenNode& n) { return ToType(n, n.TypeOf("other")); }

Status Where(AtenNode& n) {
  Emit e(n.b);
  if (!n.HasParameter("other")) return n.NotYet("where with one argument");
  const DType t = ResultType({&n.Get("self"), &n.Get("other")});
  n.Out(e.Where(As(n, "condition", DType::kBool), As(n, "self", t), As(n, "other", t)));
  return {};
}

Status MaskedFill(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  n.Out(e.Where(As(n, "mask", DType::kBool), As(n, "value", x->type.dtype), x));
  return {};
}

}  // namespace

TERN_CONVERTERS(basic) {
  for (const char* op : {"aten::clone", "aten::contiguous", "aten::detach", "aten::alias", "aten::lift",
                         "aten::lift_fresh", "aten::lift_fresh_copy", "aten::detach_copy", "aten::alias_copy",
                         "aten::resolve_conj", "aten::resolve_neg", "aten::pin_memory", "aten::cpu"})
    table.Add(op, [](AtenNode& n) { return Same(n, "self"); });
  table.Add("aten::to", To);
  table.Add("aten::_to_copy", To);
  table.Add("aten::type_as", TypeAs);
  table.Add("aten::copy", Copy);
  table.Add("aten::dropout", [](AtenNode& n) { return Dropout(n, "input"); });
  table.Add("aten::feature_dropout", [](AtenNode& n) { return Dropout(n, "input"); });
  table.Add("aten::alpha_dropout", [](AtenNode& n) { return Dropout(n, "input"); });
  table.Add("aten::feature_alpha_dropout", [](AtenNode& n) { return Dropout(n, "input"); });
  table.Add("aten::native_dropout", NativeDropout);
  for (const char* op :
       {"aten::_assert_async", "aten::_assert_tensor_metadata", "aten::_assert_scalar",
        "aten::_linalg_check_errors", "aten::sym_constrain_range_for_size", "aten::sym_constrain_range",
        "aten::_functional_assert_async", "aten::_functional_assert_scalar"})
    table.Add(op, Nothing);
  table.Add("aten::item", Item);
  table.Add("aten::_local_scalar_dense", Item);
  table.Add("aten::sym_size", SymSize);
  table.Add("aten::sym_numel", Numel);
  table.Add("aten::sym_stride", SymStride);
  table.Add("aten::sym_storage_offset", StorageOffset);
  table.Add("aten::scalar_tensor", ScalarTensor);
  table.Add("aten::where", Where);
  table.Add("aten::masked_fill", MaskedFill);
}

}  // namespace tern::torch
