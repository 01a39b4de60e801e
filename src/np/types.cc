// Type promotion and conversion.
#include <cmath>
#include <limits>

#include "kernels/cpu/elementwise/elementwise.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

// bool < u8 < i32 < i64; floats are above all of them.
int Rank(Type type) {
  switch (type) {
    case Type::kBool:
      return 0;
    case Type::kU8:
      return 1;
    case Type::kI32:
      return 2;
    case Type::kI64:
      return 3;
    case Type::kF32:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

bool IsFloating(Type type) { return type == Type::kF32 || type == Type::kF64; }

Type Promoted(Type a, Type b) {
  if (Rank(a) < Rank(b)) std::swap(a, b);
  // f32 does not hold all integers of 32 bits.
  const bool wide = a == Type::kF32 && (b == Type::kI32 || b == Type::kI64);
  return wide ? Type::kF64 : a;
}

Type FloatOf(Type type) {
  return type == Type::kF32 || type == Type::kU8 || type == Type::kBool ? Type::kF32 : Type::kF64;
}

Type SumOf(Type type) { return IsFloating(type) ? type : Type::kI64; }

// A number without a type takes the type of the other operand, unless the kind of the number is higher. A
// float with integers is f64. An integer with bools is i64.
Type PromotedOf(const Array& a, const Array& b) {
  const Type x = In(a).dtype(), y = In(b).dtype();
  const bool weak_a = Access::Weak(a), weak_b = Access::Weak(b);
  if (weak_a == weak_b) return Promoted(x, y);
  const Type number = weak_a ? x : y, other = weak_a ? y : x;
  if (number == Type::kBool) return Promoted(number, other);
  if (number == Type::kF64) return IsFloating(other) ? other : Type::kF64;
  return other == Type::kBool ? Type::kI64 : other;
}

Store Converted(const Store& x, Type type) {
  if (x.dtype() == type) return x;
  CheckType(type);
  Store y = New(type, x.dims());
  cpu::Cast(x.dtype(), type, x.raw(), y.raw(), x.size(), Pool());
  return y;
}

Store ConvertedFor(const Array& a, Type type) {
  const Store& x = In(a);
  if (Access::Weak(a) && x.dtype() == Type::kI64 && (type == Type::kU8 || type == Type::kI32)) {
    const int64_t value = *x.data<int64_t>();
    const bool fits = type == Type::kU8 ? value >= 0 && value <= 255
                                        : value >= std::numeric_limits<int32_t>::min() &&
                                              value <= std::numeric_limits<int32_t>::max();
    if (!fits) Fail("the number ", value, " is outside the range of ", tern::DTypeName(type));
  }
  return Converted(x, type);
}

DType result_type(const std::vector<Array>& arrays) {
  if (arrays.empty()) return DType::kInvalid;
  Array first = arrays[0];
  try {
    Type type = In(first).dtype();
    for (const Array& a : arrays) {
      type = PromotedOf(first, a);
      first = Access::Of(Store(type, {}), Access::Weak(first) && Access::Weak(a));
    }
    return static_cast<DType>(type);
  } catch (const Failure&) {
    return DType::kInvalid;
  }
}

}  // namespace tern::v1::np
