// Functions of one array, and where and clip.
#include <cmath>

#include "kernels/cpu/elementwise/elementwise.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

using cpu::UnaryKind;
constexpr int64_t kGrain = 1 << 12;

template <class E, class R, class F> Store Each(const Store& x, Type type, const F& f) {
  Store y = New(type, x.dims());
  Pool().ParallelFor(x.size(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y.data<R>()[i] = f(x.data<E>()[i]);
  });
  return y;
}

Store Kernel(UnaryKind kind, const Store& x, Type type) {
  Store y = New(type, x.dims());
  cpu::Unary(kind, x.dtype(), x.raw(), y.raw(), x.size(), 0, 0, Pool());
  return y;
}

// Computes a function with float results. `kind` is the kernel for f32; kClip means that there is none.
template <class F> Array Floats(const Array& a, UnaryKind kind, const F& f) {
  return Make([&] {
    const Store x = Converted(In(a), FloatOf(In(a).dtype()));
    if (x.dtype() == Type::kF64) return Each<double, double>(x, x.dtype(), [&](double v) { return f(v); });
    if (kind != UnaryKind::kClip) return Kernel(kind, x, x.dtype());
    return Each<float, float>(x, x.dtype(), [&](float v) { return f(v); });
  });
}

// Computes a rounding function. Returns integers and bools unchanged. For `kind`, see Floats.
template <class F> Array Rounding(const Array& a, UnaryKind kind, const F& f) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kF64) return Each<double, double>(x, x.dtype(), [&](double v) { return f(v); });
    if (x.dtype() != Type::kF32) return x;
    if (kind != UnaryKind::kClip) return Kernel(kind, x, x.dtype());
    return Each<float, float>(x, x.dtype(), [&](float v) { return f(v); });
  });
}

template <class F> Array Classify(const Array& a, bool of_integers, const F& f) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kF32) return Each<float, bool>(x, Type::kBool, [&](float v) { return f(v); });
    if (x.dtype() == Type::kF64) return Each<double, bool>(x, Type::kBool, [&](double v) { return f(v); });
    Store y = New(Type::kBool, x.dims());
    std::fill_n(y.data<bool>(), y.size(), of_integers);
    return y;
  });
}

}  // namespace

#define TERN_NP_FLOATS(name, kind, function)                               \
  Array name(const Array& a) {                                             \
    return Floats(a, UnaryKind::kind, [](auto v) { return function(v); }); \
  }
TERN_NP_FLOATS(sqrt, kSqrt, std::sqrt)
TERN_NP_FLOATS(cbrt, kClip, std::cbrt)
TERN_NP_FLOATS(exp, kExp, std::exp)
TERN_NP_FLOATS(exp2, kClip, std::exp2)
TERN_NP_FLOATS(expm1, kClip, std::expm1)
TERN_NP_FLOATS(log, kLog, std::log)
TERN_NP_FLOATS(log2, kClip, std::log2)
TERN_NP_FLOATS(log10, kClip, std::log10)
TERN_NP_FLOATS(log1p, kClip, std::log1p)
TERN_NP_FLOATS(sin, kSin, std::sin)
TERN_NP_FLOATS(cos, kCos, std::cos)
TERN_NP_FLOATS(tan, kTan, std::tan)
TERN_NP_FLOATS(arcsin, kAsin, std::asin)
TERN_NP_FLOATS(arccos, kAcos, std::acos)
TERN_NP_FLOATS(arctan, kAtan, std::atan)
TERN_NP_FLOATS(sinh, kSinh, std::sinh)
TERN_NP_FLOATS(cosh, kCosh, std::cosh)
TERN_NP_FLOATS(tanh, kTanh, std::tanh)
TERN_NP_FLOATS(arcsinh, kAsinh, std::asinh)
TERN_NP_FLOATS(arccosh, kAcosh, std::acosh)
TERN_NP_FLOATS(arctanh, kAtanh, std::atanh)
#undef TERN_NP_FLOATS

Array floor(const Array& a) {
  return Rounding(a, UnaryKind::kFloor, [](double v) { return std::floor(v); });
}
Array ceil(const Array& a) {
  return Rounding(a, UnaryKind::kCeil, [](double v) { return std::ceil(v); });
}
Array trunc(const Array& a) {
  return Rounding(a, UnaryKind::kClip, [](auto v) { return std::trunc(v); });
}
Array rint(const Array& a) {
  return Floats(a, UnaryKind::kRound, [](double v) { return std::nearbyint(v); });
}
Array round(const Array& a, int decimals) {
  if (decimals == 0) return Rounding(a, UnaryKind::kRound, [](double v) { return std::nearbyint(v); });
  const bool integers = a.ok() && !IsFloating(static_cast<Type>(a.dtype()));
  if (integers && decimals > 0) return a;
  const double scale = std::pow(10.0, std::abs(decimals));
  if (integers) return multiply(rint(divide(a, scale)), scale).astype(a.dtype());
  return decimals > 0 ? divide(rint(multiply(a, scale)), scale) : multiply(rint(divide(a, scale)), scale);
}

Array negative(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kBool) Fail("bools cannot be negated; use logical_not");
    if (x.dtype() == Type::kF64) return Each<double, double>(x, x.dtype(), [](double v) { return -v; });
    if (x.dtype() == Type::kU8)
      return Each<uint8_t, uint8_t>(x, x.dtype(), [](uint8_t v) { return static_cast<uint8_t>(-v); });
    return Kernel(UnaryKind::kNeg, x, x.dtype());
  });
}
Array abs(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kBool || x.dtype() == Type::kU8) return x;
    if (x.dtype() == Type::kF64)
      return Each<double, double>(x, x.dtype(), [](double v) { return std::fabs(v); });
    return Kernel(UnaryKind::kAbs, x, x.dtype());
  });
}
Array sign(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kBool) Fail("bools have no sign");
    if (x.dtype() == Type::kF64)
      return Each<double, double>(x, x.dtype(), [](double v) {
        return v > 0 ? 1.0 : v < 0 ? -1.0 : v == 0 ? 0.0 : v;
      });
    return Kernel(UnaryKind::kSign, x, x.dtype());
  });
}
Array square(const Array& a) { return multiply(a, a); }
Array reciprocal(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.dtype() == Type::kF32) return Kernel(UnaryKind::kReciprocal, x, x.dtype());
    if (x.dtype() == Type::kF64) return Each<double, double>(x, x.dtype(), [](double v) { return 1 / v; });
    Fail("the reciprocals of integers are not integers; convert ", x.Describe(), " to floats first");
  });
}
Array logical_not(const Array& a) {
  return Make([&] { return Kernel(UnaryKind::kNot, Converted(In(a), Type::kBool), Type::kBool); });
}
Array bitwise_not(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (IsFloating(x.dtype())) Fail("bitwise functions do not take floats: ", x.Describe());
    return Kernel(x.dtype() == Type::kBool ? UnaryKind::kNot : UnaryKind::kBitwiseNot, x, x.dtype());
  });
}

Array isnan(const Array& a) {
  return Classify(a, false, [](auto v) { return std::isnan(v); });
}
Array isinf(const Array& a) {
  return Classify(a, false, [](auto v) { return std::isinf(v); });
}
Array isfinite(const Array& a) {
  return Classify(a, true, [](auto v) { return std::isfinite(v); });
}

Array clip(const Array& a, const Array& low, const Array& high) { return minimum(maximum(a, low), high); }

Array where(const Array& condition, const Array& a, const Array& b) {
  return Make([&] {
    const Store c = Converted(In(condition), Type::kBool);
    const Type type = PromotedOf(a, b);
    const Store x = ConvertedFor(a, type), y = ConvertedFor(b, type);
    const Dims dims = BroadcastOf(c.dims(), BroadcastOf(x.dims(), y.dims()));
    Store out = New(type, dims);
    if (out.size() == 0) return out;
    const auto plan =
        cpu::MakeBroadcast<3>(dims, {std::cref(c.dims()), std::cref(x.dims()), std::cref(y.dims())});
    const auto steps = plan.steps[static_cast<size_t>(plan.rank - 1)];
    VisitWidth(type, [&](auto* p) {
      using E = std::remove_pointer_t<decltype(p)>;
      Pool().ParallelFor(out.size(), kGrain, [&](int64_t begin, int64_t end) {
        cpu::EachRow<3>(plan, begin, end, [&](const std::array<int64_t, 3>& at, int64_t to, int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            out.data<E>()[to + i] = c.data<bool>()[at[0] + i * steps[0]] ? x.data<E>()[at[1] + i * steps[1]]
                                                                         : y.data<E>()[at[2] + i * steps[2]];
        });
      });
    });
    return out;
  });
}

}  // namespace tern::v1::np
