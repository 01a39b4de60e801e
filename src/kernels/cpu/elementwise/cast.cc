#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/elementwise/tiles.h"

namespace tern::cpu {
namespace {

struct Boolean {
  uint8_t value;
};

// Converts a float to an integer. NaN becomes 0. A value outside the range of int64 becomes INT64_MIN or
// INT64_MAX; if To is uint64_t, the upper limit is UINT64_MAX instead. If To has fewer than 64 bits, the high
// bits are then dropped, so that 300 becomes the u8 44.
template <class To, class From> To ToInteger(From v) {
  constexpr From kTop = static_cast<From>(9223372036854775807.0);
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (v >= kTop) return v >= kTop * 2 ? ~uint64_t{0} : static_cast<uint64_t>(v);
  }
  const From c = v != v ? From(0) : v;
  return static_cast<To>(c >= kTop ? INT64_MAX : c <= -kTop ? INT64_MIN : static_cast<int64_t>(c));
}

// If all values of x are in the range of int32, the conversion is vectorized.
template <class To, class From> void FloatsToIntegers(const From* x, To* y, int64_t n) {
  bool fits = true;
  for (int64_t i = 0; i < n; ++i) fits &= x[i] > From(-2147483000) && x[i] < From(2147483000);
  if (fits)
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(static_cast<int32_t>(x[i]));
  else
    for (int64_t i = 0; i < n; ++i) y[i] = ToInteger<To>(x[i]);
}

template <class From, class To> void Convert(const From* x, To* y, int64_t n) {
  if constexpr (std::is_same_v<To, Boolean>) {
    if constexpr (std::is_same_v<From, Boolean>)
      std::memcpy(y, x, static_cast<size_t>(n));
    else
      for (int64_t i = 0; i < n; ++i) y[i].value = x[i] != 0;
  } else if constexpr (std::is_same_v<From, Boolean>) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i].value != 0);
  } else if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) {
    for (int64_t i = 0; i < n; i += kTile) FloatsToIntegers(x + i, y + i, std::min(kTile, n - i));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i]);
  }
}

template <class F> void WithType(DType t, const F& f) {
  switch (t) {
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      return f(double{});
    case DType::kI8:
      return f(int8_t{});
    case DType::kI16:
      return f(int16_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kU16:
      return f(uint16_t{});
    case DType::kU32:
      return f(uint32_t{});
    case DType::kU64:
      return f(uint64_t{});
    default:
      return f(Boolean{});
  }
}

void ConvertAny(DType from, DType to, const void* x, void* y, int64_t n) {
  WithType(from, [&](auto a) {
    WithType(to,
             [&](auto b) { Convert(static_cast<const decltype(a)*>(x), static_cast<decltype(b)*>(y), n); });
  });
}

void ConvertPart(DType from, DType to, const char* x, char* y, int64_t n) {
  float tile[kTile];
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t count = std::min(kTile, n - i);
    const char* p = x + i * BitWidth(from) / 8;
    char* q = y + i * BitWidth(to) / 8;
    const void* source = p;
    if (IsHalfPrecision(from)) {
      Widen(from, reinterpret_cast<const uint16_t*>(p), tile, count);
      source = tile;
    } else if (IsHalfPrecision(to) && from != DType::kF32) {
      ConvertAny(from, DType::kF32, p, tile, count);
      source = tile;
    }
    if (IsHalfPrecision(to))
      RoundToHalf(to, static_cast<const float*>(source), reinterpret_cast<uint16_t*>(q), count);
    else
      ConvertAny(source == p ? from : DType::kF32, to, source, q, count);
  }
}

bool IsSupported(DType t) {
  switch (t) {
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
    case DType::kBool:
      return true;
    default:
      return IsInt(t) && BitWidth(t) >= 8;
  }
}

}  // namespace

// Casts to f16 and bf16 convert to f32 first. A number that f32 cannot represent exactly would be rounded
// twice. So casts from f64 and from integers of more than 16 bits to f16 and bf16 are not supported.
bool HasCast(DType from, DType to) {
  const bool wide = from == DType::kF64 || (IsInt(from) && BitWidth(from) > 16);
  return IsSupported(from) && IsSupported(to) && !(wide && IsHalfPrecision(to));
}

void Cast(DType from, DType to, const void* x, void* y, int64_t n, const Workers& workers) {
  if (from == to) {
    const int width = BitWidth(from) / 8;
    workers.ParallelFor(n * width, 1 << 18, [=](int64_t begin, int64_t end) {
      std::memcpy(static_cast<char*>(y) + begin, static_cast<const char*>(x) + begin,
                  static_cast<size_t>(end - begin));
    });
    return;
  }
  workers.ParallelFor(n, 16384, [&](int64_t begin, int64_t end) {
    ConvertPart(from, to, static_cast<const char*>(x) + begin * BitWidth(from) / 8,
                static_cast<char*>(y) + begin * BitWidth(to) / 8, end - begin);
  });
}

}  // namespace tern::cpu
