// Functions of two arrays.
#include <cmath>

#include "kernels/cpu/elementwise/elementwise.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

using tern::BinaryKind;

struct Operands {
  Store a, b;
  Dims dims;
};

Operands Load(const Array& a, const Array& b, Type type) {
  return {ConvertedFor(a, type), ConvertedFor(b, type), BroadcastOf(In(a).dims(), In(b).dims())};
}

Store Run(BinaryKind kind, const Operands& x, Type type) {
  Store y = New(tern::IsComparison(kind) ? Type::kBool : type, x.dims);
  if (y.size() == 0) return y;
  const auto plan = cpu::MakeBroadcast<2>(x.dims, {std::cref(x.a.dims()), std::cref(x.b.dims())});
  cpu::Binary(kind, type, plan, x.a.raw(), x.b.raw(), y.raw(), Pool());
  return y;
}

// Functions without a kernel: calls f for each pair of elements.
template <class E, class F> Store Each(const Operands& x, Type type, const F& f) {
  Store y = New(type, x.dims);
  if (y.size() == 0) return y;
  const auto plan = cpu::MakeBroadcast<2>(x.dims, {std::cref(x.a.dims()), std::cref(x.b.dims())});
  const auto steps = plan.steps[static_cast<size_t>(plan.rank - 1)];
  Pool().ParallelFor(y.size(), 1 << 12, [&](int64_t begin, int64_t end) {
    cpu::EachRow<2>(plan, begin, end, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        y.data<E>()[to + i] = f(x.a.data<E>()[at[0] + i * steps[0]], x.b.data<E>()[at[1] + i * steps[1]]);
    });
  });
  return y;
}
template <class F> Store EachFloat(const Array& a, const Array& b, const F& f) {
  const Type type = FloatOf(PromotedOf(a, b));
  const Operands x = Load(a, b, type);
  if (type == Type::kF32) return Each<float>(x, type, [&](float u, float v) { return f(u, v); });
  return Each<double>(x, type, [&](double u, double v) { return f(u, v); });
}
template <class F> Store EachInteger(const Operands& x, Type type, const F& f) {
  if (type == Type::kU8)
    return Each<uint8_t>(x, type, [&](uint8_t u, uint8_t v) { return static_cast<uint8_t>(f(u, v)); });
  if (type == Type::kI32)
    return Each<int32_t>(x, type, [&](int32_t u, int32_t v) { return static_cast<int32_t>(f(u, v)); });
  return Each<int64_t>(x, type, f);
}

// Bools have no arithmetic kernels. The sum and the maximum of bools are `or`; the product and the minimum
// are `and`.
Store Arithmetic(BinaryKind kind, const Array& a, const Array& b) {
  const Type type = PromotedOf(a, b);
  if (type == Type::kBool) {
    if (kind == BinaryKind::kSub) Fail("bools cannot be subtracted; use logical_xor");
    const bool either = kind == BinaryKind::kAdd || kind == BinaryKind::kMax;
    return Run(either ? BinaryKind::kOr : BinaryKind::kAnd, Load(a, b, type), type);
  }
  return Run(kind, Load(a, b, type), type);
}

Store Compare(BinaryKind kind, const Array& a, const Array& b) {
  const Type common = PromotedOf(a, b);
  const Type type = common == Type::kBool && kind != BinaryKind::kEqual ? Type::kU8 : common;
  return Run(kind, Load(a, b, type), type);
}

Store Logical(BinaryKind kind, const Array& a, const Array& b) {
  const Operands x = {Converted(In(a), Type::kBool), Converted(In(b), Type::kBool),
                      BroadcastOf(In(a).dims(), In(b).dims())};
  return Run(kind, x, Type::kBool);
}

Store Bitwise(BinaryKind bits, BinaryKind bools, const Array& a, const Array& b) {
  const Type type = PromotedOf(a, b);
  if (IsFloating(type))
    Fail("bitwise functions do not take floats: ", In(a).Describe(), " and ", In(b).Describe());
  return Run(type == Type::kBool ? bools : bits, Load(a, b, type), type);
}

int64_t FloorQuotient(int64_t u, int64_t v) {
  if (v == 0) return 0;
  if (v == -1) return static_cast<int64_t>(-static_cast<uint64_t>(u));
  const int64_t q = u / v;
  return q * v != u && (u < 0) != (v < 0) ? q - 1 : q;
}
int64_t PythonRemainder(int64_t u, int64_t v) {
  if (v == 0 || v == -1) return 0;
  const int64_t r = u % v;
  return r != 0 && (r < 0) != (v < 0) ? r + v : r;
}
int64_t Power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}
template <class E> E FloatRemainder(E u, E v) {
  const E r = std::fmod(u, v);
  if (r == 0) return std::copysign(E{0}, v);
  return (r < 0) != (v < 0) ? r + v : r;
}
template <class E> E FloatFloorQuotient(E u, E v) {
  if (v == 0) return u / v;
  const E r = std::fmod(u, v);
  E q = (u - r) / v;
  if (r != 0 && (r < 0) != (v < 0)) q -= 1;
  if (q == 0) return std::copysign(E{0}, u / v);
  const E f = std::floor(q);
  return q - f > E{0.5} ? f + 1 : f;
}

// For bools, numpy uses int8. Arrays here do not have this type, so that i32 replaces it.
Type NumberType(const Array& a, const Array& b) {
  const Type type = PromotedOf(a, b);
  return type == Type::kBool ? Type::kI32 : type;
}

}  // namespace

Array add(const Array& a, const Array& b) {
  return Make([&] { return Arithmetic(BinaryKind::kAdd, a, b); });
}
Array subtract(const Array& a, const Array& b) {
  return Make([&] { return Arithmetic(BinaryKind::kSub, a, b); });
}
Array multiply(const Array& a, const Array& b) {
  return Make([&] { return Arithmetic(BinaryKind::kMul, a, b); });
}
Array maximum(const Array& a, const Array& b) {
  return Make([&] { return Arithmetic(BinaryKind::kMax, a, b); });
}
Array minimum(const Array& a, const Array& b) {
  return Make([&] { return Arithmetic(BinaryKind::kMin, a, b); });
}
Array divide(const Array& a, const Array& b) {
  return Make([&] {
    const Type common = PromotedOf(a, b), type = common == Type::kF32 ? common : Type::kF64;
    return Run(BinaryKind::kDiv,
               {Converted(In(a), type), Converted(In(b), type), BroadcastOf(In(a).dims(), In(b).dims())},
               type);
  });
}
Array floor_divide(const Array& a, const Array& b) {
  return Make([&] {
    const Type type = NumberType(a, b);
    const Operands x = Load(a, b, type);
    if (type == Type::kF32) return Each<float>(x, type, FloatFloorQuotient<float>);
    if (type == Type::kF64) return Each<double>(x, type, FloatFloorQuotient<double>);
    return EachInteger(x, type, FloorQuotient);
  });
}
Array mod(const Array& a, const Array& b) {
  return Make([&] {
    const Type type = NumberType(a, b);
    const Operands x = Load(a, b, type);
    if (type == Type::kF32) return Each<float>(x, type, FloatRemainder<float>);
    if (type == Type::kF64) return Each<double>(x, type, FloatRemainder<double>);
    return EachInteger(x, type, PythonRemainder);
  });
}
Array fmod(const Array& a, const Array& b) {
  return Make([&] {
    const Type type = NumberType(a, b);
    const Operands x = Load(a, b, type);
    if (type == Type::kF32) return Each<float>(x, type, [](float u, float v) { return std::fmod(u, v); });
    if (type == Type::kF64) return Each<double>(x, type, [](double u, double v) { return std::fmod(u, v); });
    return EachInteger(x, type, [](int64_t u, int64_t v) { return v == 0 || v == -1 ? 0 : u % v; });
  });
}
Array power(const Array& a, const Array& b) {
  return Make([&] {
    const Type type = NumberType(a, b);
    const Operands x = Load(a, b, type);
    if (type == Type::kF32) return Run(BinaryKind::kPow, x, type);
    if (type == Type::kF64) return Each<double>(x, type, [](double u, double v) { return std::pow(u, v); });
    const Store exponents = Converted(x.b, Type::kI64);
    for (int64_t i = 0; i < exponents.size(); ++i)
      if (exponents.data<int64_t>()[i] < 0)
        Fail("an integer to the power ", exponents.data<int64_t>()[i], "; convert it to a float first");
    return EachInteger(x, type, Power);
  });
}
Array arctan2(const Array& a, const Array& b) {
  return Make([&] { return EachFloat(a, b, [](auto u, auto v) { return std::atan2(u, v); }); });
}
Array hypot(const Array& a, const Array& b) {
  return Make([&] { return EachFloat(a, b, [](auto u, auto v) { return std::hypot(u, v); }); });
}

Array equal(const Array& a, const Array& b) {
  return Make([&] { return Compare(BinaryKind::kEqual, a, b); });
}
Array not_equal(const Array& a, const Array& b) { return logical_not(equal(a, b)); }
Array less(const Array& a, const Array& b) {
  return Make([&] { return Compare(BinaryKind::kLess, a, b); });
}
Array less_equal(const Array& a, const Array& b) {
  return Make([&] { return Compare(BinaryKind::kLessEqual, a, b); });
}
Array greater(const Array& a, const Array& b) {
  return Make([&] { return Compare(BinaryKind::kGreater, a, b); });
}
Array greater_equal(const Array& a, const Array& b) {
  return Make([&] { return Compare(BinaryKind::kGreaterEqual, a, b); });
}
Array logical_and(const Array& a, const Array& b) {
  return Make([&] { return Logical(BinaryKind::kAnd, a, b); });
}
Array logical_or(const Array& a, const Array& b) {
  return Make([&] { return Logical(BinaryKind::kOr, a, b); });
}
Array logical_xor(const Array& a, const Array& b) {
  return Make([&] { return Logical(BinaryKind::kXor, a, b); });
}
Array bitwise_and(const Array& a, const Array& b) {
  return Make([&] { return Bitwise(BinaryKind::kBitAnd, BinaryKind::kAnd, a, b); });
}
Array bitwise_or(const Array& a, const Array& b) {
  return Make([&] { return Bitwise(BinaryKind::kBitOr, BinaryKind::kOr, a, b); });
}
Array bitwise_xor(const Array& a, const Array& b) {
  return Make([&] { return Bitwise(BinaryKind::kBitXor, BinaryKind::kXor, a, b); });
}

namespace {

Store Shift(const Array& a, const Array& b, bool left) {
  const Type type = NumberType(a, b);
  if (IsFloating(type)) Fail("shifts do not take floats: ", In(a).Describe(), " and ", In(b).Describe());
  const int64_t bits = Width(type) * 8;
  return EachInteger(Load(a, b, type), type, [=](int64_t u, int64_t v) -> int64_t {
    if (v < 0 || v >= bits) return left || u >= 0 ? 0 : -1;
    return left ? static_cast<int64_t>(static_cast<uint64_t>(u) << v) : u >> v;
  });
}

}  // namespace

Array left_shift(const Array& a, const Array& b) {
  return Make([&] { return Shift(a, b, true); });
}
Array right_shift(const Array& a, const Array& b) {
  return Make([&] { return Shift(a, b, false); });
}

Array isclose(const Array& a, const Array& b, double rtol, double atol) {
  const Array x = a.astype(DType::kF64), y = b.astype(DType::kF64);
  const Array near = less_equal(abs(subtract(x, y)), add(atol, multiply(rtol, abs(y))));
  return logical_or(logical_and(near, isfinite(y)), equal(x, y));
}
bool allclose(const Array& a, const Array& b, double rtol, double atol) {
  const Array close = all(isclose(a, b, rtol, atol));
  return close.ok() && close.item<bool>();
}
bool array_equal(const Array& a, const Array& b) {
  return a.ok() && b.ok() && a.shape() == b.shape() && all(equal(a, b)).item<bool>();
}

}  // namespace tern::v1::np
