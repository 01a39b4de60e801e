#include "import/torch/aten/promote.h"

#include <algorithm>

namespace tern::torch {
namespace {

int CategoryOf(DType t) { return t == DType::kInvalid ? -1 : t == DType::kBool ? 0 : IsInt(t) ? 1 : 2; }

DType Combine(DType higher, DType lower) {
  if (higher == DType::kInvalid) return lower;
  if (lower == DType::kInvalid || IsFloat(higher)) return higher;
  if (higher == DType::kBool || IsFloat(lower)) return PromoteTypes(higher, lower);
  return higher;
}

DType TypeOfNumber(const Arg& a) {
  return a.kind == Arg::Kind::kBool ? DType::kBool : a.kind == Arg::Kind::kFloat ? DType::kF32 : DType::kI64;
}

}  // namespace

DType PromoteTypes(DType a, DType b) {
  if (a == b || b == DType::kInvalid) return a;
  if (a == DType::kInvalid) return b;
  if (CategoryOf(a) != CategoryOf(b)) return CategoryOf(a) > CategoryOf(b) ? a : b;
  if (IsFloat(a)) {
    if (a == DType::kF64 || b == DType::kF64) return DType::kF64;
    if (BitWidth(a) == BitWidth(b)) return DType::kF32;  // f16 and bf16
    return BitWidth(a) > BitWidth(b) ? a : b;
  }
  if (IsUnsignedInt(a) == IsUnsignedInt(b)) return BitWidth(a) > BitWidth(b) ? a : b;
  const DType with_sign = IsUnsignedInt(a) ? b : a, without = IsUnsignedInt(a) ? a : b;
  if (BitWidth(with_sign) > BitWidth(without)) return with_sign;
  return BitWidth(without) == 8 ? DType::kI16 : BitWidth(without) == 16 ? DType::kI32 : DType::kI64;
}

DType ResultType(const std::vector<const Arg*>& operands) {
  DType dims = DType::kInvalid, scalars = DType::kInvalid, numbers = DType::kInvalid;
  for (const Arg* a : operands) {
    if (a->is_tensor()) {
      DType& group = a->tensor->type().shape.rank() == 0 ? scalars : dims;
      group = PromoteTypes(group, a->tensor->type().dtype);
    } else if (a->number()) {
      numbers = PromoteTypes(numbers, TypeOfNumber(*a));
    }
  }
  return Combine(Combine(dims, scalars), numbers);
}

Value* As(AtenNode& n, const Arg& arg, DType dtype) {
  if (arg.number()) return ScalarValue(n.b, arg, dtype);
  Value* v = n.ValueOf(arg);
  return v ? Emit(n.b).Cast(v, dtype) : nullptr;
}

Value* As(AtenNode& n, std::string_view name, DType dtype) { return As(n, n.Get(name), dtype); }

DType FloatOf(DType t) { return IsFloat(t) ? t : DType::kF32; }

Value* InFloat(AtenNode& n, std::string_view name) {
  Value* x = n.In(name);
  return x ? Emit(n.b).Cast(x, FloatOf(x->type.dtype)) : nullptr;
}

int64_t Axis(AtenNode& n, int64_t axis, int rank) {
  if (rank < 0) {
    n.b.Fail(n.NotYet("a tensor of unknown rank"));
    return 0;
  }
  const int64_t size = std::max(rank, 1);  // an axis of a scalar is 0 or -1
  if (axis < -size || axis >= size) {
    n.b.Fail(n.Bad("axis ", axis, " of a tensor of rank ", rank));
    return 0;
  }
  return axis < 0 ? axis + size : axis;
}

std::vector<int64_t> Axes(AtenNode& n, const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> out;
  for (const int64_t a : axes) out.push_back(Axis(n, a, rank));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace tern::torch
