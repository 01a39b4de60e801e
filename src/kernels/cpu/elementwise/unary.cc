#include <limits>
#include <type_traits>

#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/elementwise/tiles.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

template <class T> void Integers(UnaryKind kind, const T* x, T* y, int64_t n) {
  using U = std::make_unsigned_t<T>;
  switch (kind) {
    case UnaryKind::kAbs:
      for (int64_t i = 0; i < n; ++i)
        y[i] = std::is_signed_v<T> && x[i] < 0 ? static_cast<T>(U(0) - static_cast<U>(x[i])) : x[i];
      return;
    case UnaryKind::kNeg:
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(U(0) - static_cast<U>(x[i]));
      return;
    case UnaryKind::kSign:
      for (int64_t i = 0; i < n; ++i)
        y[i] = static_cast<T>(x[i] == 0 ? 0 : std::is_signed_v<T> && x[i] < 0 ? -1 : 1);
      return;
    case UnaryKind::kRelu:
      for (int64_t i = 0; i < n; ++i) y[i] = std::is_signed_v<T> && x[i] < 0 ? T(0) : x[i];
      return;
    default:  // bitwise_not
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(~x[i]);
  }
}

void NotBools(const uint8_t* x, uint8_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = !x[i];
}

// Tests the bits for NaN: all exponent bits are set, and the fraction is not zero.
void TestNans(DType type, const void* x, uint8_t* y, int64_t n) {
  if (type == DType::kF32) {
    const auto* p = static_cast<const uint32_t*>(x);
    for (int64_t i = 0; i < n; ++i) y[i] = (p[i] & 0x7fffffffu) > 0x7f800000u;
  } else if (type == DType::kF64) {
    const auto* p = static_cast<const uint64_t*>(x);
    for (int64_t i = 0; i < n; ++i) y[i] = (p[i] & ~(uint64_t{1} << 63)) > uint64_t{0x7ff} << 52;
  } else {
    const auto* p = static_cast<const uint16_t*>(x);
    const unsigned infinite = type == DType::kF16 ? 0x7c00u : 0x7f80u;
    for (int64_t i = 0; i < n; ++i) y[i] = (p[i] & 0x7fffu) > infinite;
  }
}

void HalfFloats(UnaryKind kind, DType type, const uint16_t* x, uint16_t* y, int64_t n, float alpha,
                float beta) {
  float tile[kTile];
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t count = std::min(kTile, n - i);
    Widen(type, x + i, tile, count);
    UnarySimd().f32(kind, tile, tile, count, alpha, beta);
    RoundToHalf(type, tile, y + i, count);
  }
}

template <class T> void IntegersOf(UnaryKind kind, const void* x, void* y, int64_t begin, int64_t n) {
  Integers(kind, static_cast<const T*>(x) + begin, static_cast<T*>(y) + begin, n);
}

void RunPart(UnaryKind kind, DType type, const void* x, void* y, int64_t at, int64_t n, float alpha,
             float beta) {
  if (kind == UnaryKind::kIsNan)
    return TestNans(type, static_cast<const char*>(x) + at * BitWidth(type) / 8,
                    static_cast<uint8_t*>(y) + at, n);
  switch (type) {
    case DType::kF32:
      return UnarySimd().f32(kind, static_cast<const float*>(x) + at, static_cast<float*>(y) + at, n, alpha,
                             beta);
    case DType::kF16:
    case DType::kBF16:
      return HalfFloats(kind, type, static_cast<const uint16_t*>(x) + at, static_cast<uint16_t*>(y) + at, n,
                        alpha, beta);
    case DType::kBool:
      return NotBools(static_cast<const uint8_t*>(x) + at, static_cast<uint8_t*>(y) + at, n);
    case DType::kI8:
      return IntegersOf<int8_t>(kind, x, y, at, n);
    case DType::kI16:
      return IntegersOf<int16_t>(kind, x, y, at, n);
    case DType::kI32:
      return IntegersOf<int32_t>(kind, x, y, at, n);
    case DType::kI64:
      return IntegersOf<int64_t>(kind, x, y, at, n);
    case DType::kU8:
      return IntegersOf<uint8_t>(kind, x, y, at, n);
    case DType::kU16:
      return IntegersOf<uint16_t>(kind, x, y, at, n);
    case DType::kU32:
      return IntegersOf<uint32_t>(kind, x, y, at, n);
    default:
      return IntegersOf<uint64_t>(kind, x, y, at, n);
  }
}

bool IsUnpackedInt(DType t) { return IsInt(t) && BitWidth(t) >= 8; }

template <class T>
void ClipElements(const void* x, const void* low, const void* high, void* y, int64_t begin, int64_t end) {
  const T *p = static_cast<const T*>(x),
          lo = low ? *static_cast<const T*>(low) : std::numeric_limits<T>::lowest(),
          hi = high ? *static_cast<const T*>(high) : std::numeric_limits<T>::max();
  T* out = static_cast<T*>(y);
  for (int64_t i = begin; i < end; ++i) {
    const T v = low && p[i] < lo ? lo : p[i];
    out[i] = high && v > hi ? hi : v;
  }
}

void ClipFloats(DType type, const void* x, const void* low, const void* high, void* y, int64_t n,
                const Workers& workers) {
  const auto limit = [&](const void* p, float otherwise) {
    if (!p) return otherwise;
    float v;
    if (type == DType::kF32) return *static_cast<const float*>(p);
    Widen(type, static_cast<const uint16_t*>(p), &v, 1);
    return v;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Unary(UnaryKind::kClip, type, x, y, n, limit(low, -kInfinity), limit(high, kInfinity), workers);
}

}  // namespace

bool HasUnary(UnaryKind kind, DType type) {
  const bool half = IsHalfPrecision(type), f32 = type == DType::kF32;
  switch (kind) {
    case UnaryKind::kNot:
      return type == DType::kBool;
    case UnaryKind::kBitwiseNot:
      return IsUnpackedInt(type);
    case UnaryKind::kIsNan:
      return half || f32 || type == DType::kF64;
    case UnaryKind::kAbs:
    case UnaryKind::kNeg:
    case UnaryKind::kSign:
    case UnaryKind::kRelu:
      return half || f32 || IsUnpackedInt(type);
    default:
      return half || f32;
  }
}

void Unary(UnaryKind kind, DType type, const void* x, void* y, int64_t n, float alpha, float beta,
           const Workers& workers) {
  workers.ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    RunPart(kind, type, x, y, begin, end - begin, alpha, beta);
  });
}

void Clip(DType type, const void* x, const void* low, const void* high, void* y, int64_t n,
          const Workers& workers) {
  if (type == DType::kF32 || IsHalfPrecision(type)) return ClipFloats(type, x, low, high, y, n, workers);
  workers.ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    switch (type) {
      case DType::kF64:
        return ClipElements<double>(x, low, high, y, begin, end);
      case DType::kI8:
        return ClipElements<int8_t>(x, low, high, y, begin, end);
      case DType::kI16:
        return ClipElements<int16_t>(x, low, high, y, begin, end);
      case DType::kI32:
        return ClipElements<int32_t>(x, low, high, y, begin, end);
      case DType::kI64:
        return ClipElements<int64_t>(x, low, high, y, begin, end);
      case DType::kU8:
        return ClipElements<uint8_t>(x, low, high, y, begin, end);
      case DType::kU16:
        return ClipElements<uint16_t>(x, low, high, y, begin, end);
      case DType::kU32:
        return ClipElements<uint32_t>(x, low, high, y, begin, end);
      default:
        return ClipElements<uint64_t>(x, low, high, y, begin, end);
    }
  });
}

}  // namespace tern::cpu
