#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using K = BinaryKind;

// The unsigned type of the same size, for arithmetic that wraps around.
template <class T> struct Unsigned { using Type = T; };
template <> struct Unsigned<int8_t> { using Type = uint8_t; };
template <> struct Unsigned<int16_t> { using Type = uint16_t; };
template <> struct Unsigned<int32_t> { using Type = uint32_t; };
template <> struct Unsigned<int64_t> { using Type = uint64_t; };
template <class T> constexpr bool kSigned = T(-1) < T(0);

template <class T, class F>
inline void ForEach(const void* a, const void* b, void* y, int64_t n, const F& f) {
  const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(f(p[i], q[i]));
}

template <class T, class F> inline void Test(const void* a, const void* b, void* y, int64_t n, const F& f) {
  const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
  auto* out = static_cast<uint8_t*>(y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = f(p[i], q[i]);
}

template <class T> void Compare(K kind, const void* a, const void* b, void* y, int64_t n) {
  switch (kind) {
    case K::kEqual:
      return Test<T>(a, b, y, n, [](T p, T q) { return p == q; });
    case K::kLess:
      return Test<T>(a, b, y, n, [](T p, T q) { return p < q; });
    case K::kLessEqual:
      return Test<T>(a, b, y, n, [](T p, T q) { return p <= q; });
    case K::kGreater:
      return Test<T>(a, b, y, n, [](T p, T q) { return p > q; });
    default:
      return Test<T>(a, b, y, n, [](T p, T q) { return p >= q; });
  }
}

inline float Fmod(float a, float b) { return __builtin_fmodf(a, b); }
inline double Fmod(double a, double b) { return __builtin_fmod(a, b); }
inline float Power(float a, float b) { return __builtin_powf(a, b); }
inline double Power(double a, double b) { return __builtin_pow(a, b); }

template <class T> inline T FloorMod(T a, T b) {
  const T r = Fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Computes the powers a[i] ^ b[i]. Has fast paths for tiles whose exponents are all 2, all 3, all -1 or all
// 0.5.
template <class T> void Powers(const void* a, const void* b, void* y, int64_t n) {
  const T* q = static_cast<const T*>(b);
  bool same = n > 0;
  for (int64_t i = 1; i < n; ++i) same = same && q[i] == q[0];
  if (same && q[0] == T(2)) return ForEach<T>(a, b, y, n, [](T p, T) { return p * p; });
  if (same && q[0] == T(3)) return ForEach<T>(a, b, y, n, [](T p, T) { return p * p * p; });
  if (same && q[0] == T(-1)) return ForEach<T>(a, b, y, n, [](T p, T) { return 1 / p; });
  if (same && q[0] == T(0.5))
    return ForEach<T>(a, b, y, n, [](T p, T) {
      return p == -__builtin_inf() ? T(__builtin_inf()) : T(__builtin_sqrt(p)) + T(0);
    });
  ForEach<T>(a, b, y, n, [](T p, T e) { return Power(p, e); });
}

template <class T> void Floats(K kind, const void* a, const void* b, void* y, int64_t n) {
  switch (kind) {
    case K::kAdd:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p + q; });
    case K::kSub:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p - q; });
    case K::kMul:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p * q; });
    case K::kDiv:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p / q; });
    case K::kPow:
      return Powers<T>(a, b, y, n);
    case K::kMod:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return FloorMod(p, q); });
    case K::kFmod:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return Fmod(p, q); });
    case K::kMin:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p != p || p < q ? p : q; });  // NaN propagates
    case K::kMax:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p != p || p > q ? p : q; });
    case K::kPrelu:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p < 0 ? p * q : p; });
    default:
      return Compare<T>(kind, a, b, y, n);
  }
}

// Returns 0 for a division by zero. The lowest integer divided by -1 wraps around.
template <class T> inline T Divide(T a, T b) {
  if (b == 0) return 0;
  if (kSigned<T> && b == T(-1))
    return static_cast<T>(typename Unsigned<T>::Type(0) - static_cast<typename Unsigned<T>::Type>(a));
  return static_cast<T>(a / b);
}

template <class T> inline T Remainder(T a, T b) {
  if (b == 0 || (kSigned<T> && b == T(-1))) return 0;
  return static_cast<T>(a % b);
}

template <class T> inline T Modulo(T a, T b) {
  const T r = Remainder(a, b);
  return kSigned<T> && r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}

// Computes the power modulo 2^bits. With a negative exponent, the result is 0, except for the bases 1 and -1,
// whose powers are integers.
template <class T> inline T IntegerPower(T base, T exponent) {
  using U = typename Unsigned<T>::Type;
  if (kSigned<T> && exponent < 0) return base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
  uint64_t result = 1, square = static_cast<U>(base);
  for (U e = static_cast<U>(exponent); e; e = static_cast<U>(e >> 1), square *= square)
    if (e & 1) result *= square;
  return static_cast<T>(result);
}

template <class T> inline T ShiftRight(T a, T b) {
  constexpr int bits = static_cast<int>(sizeof(T)) * 8;
  const bool shifts_out = b < 0 || static_cast<uint64_t>(b) >= bits;
  if (kSigned<T>) return shifts_out ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> b);
  return shifts_out ? T(0) : static_cast<T>(a >> b);
}

template <class T> void Integers(K kind, const void* a, const void* b, void* y, int64_t n) {
  using U = typename Unsigned<T>::Type;
  constexpr int bits = static_cast<int>(sizeof(T)) * 8;
  switch (kind) {
    case K::kAdd:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return p + q; });
    case K::kSub:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return p - q; });
    case K::kMul:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return static_cast<uint64_t>(p) * q; });
    case K::kDiv:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return Divide(p, q); });
    case K::kPow:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return IntegerPower(p, q); });
    case K::kMod:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return Modulo(p, q); });
    case K::kFmod:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return Remainder(p, q); });
    case K::kMin:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p < q ? p : q; });
    case K::kMax:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return p < q ? q : p; });
    case K::kAnd:
    case K::kBitAnd:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return p & q; });
    case K::kOr:
    case K::kBitOr:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return p | q; });
    case K::kXor:
    case K::kBitXor:
      return ForEach<U>(a, b, y, n, [](U p, U q) { return p ^ q; });
    case K::kShiftLeft:
      return ForEach<U>(a, b, y, n,
                        [](U p, U q) { return q >= bits ? uint64_t{0} : static_cast<uint64_t>(p) << q; });
    case K::kShiftRight:
      return ForEach<T>(a, b, y, n, [](T p, T q) { return ShiftRight(p, q); });
    case K::kPrelu:
      return ForEach<T>(a, b, y, n, [](T p, T q) {
        return kSigned<T> && p < 0 ? static_cast<T>(static_cast<uint64_t>(p) * static_cast<uint64_t>(q)) : p;
      });
    default:
      return Compare<T>(kind, a, b, y, n);
  }
}

void Run(K kind, DType type, const void* a, const void* b, void* y, int64_t n) {
  switch (type) {
    case DType::kF32:
      return Floats<float>(kind, a, b, y, n);
    case DType::kF64:
      return Floats<double>(kind, a, b, y, n);
    case DType::kI8:
      return Integers<int8_t>(kind, a, b, y, n);
    case DType::kI16:
      return Integers<int16_t>(kind, a, b, y, n);
    case DType::kI32:
      return Integers<int32_t>(kind, a, b, y, n);
    case DType::kI64:
      return Integers<int64_t>(kind, a, b, y, n);
    case DType::kU16:
      return Integers<uint16_t>(kind, a, b, y, n);
    case DType::kU32:
      return Integers<uint32_t>(kind, a, b, y, n);
    case DType::kU64:
      return Integers<uint64_t>(kind, a, b, y, n);
    default:
      return Integers<uint8_t>(kind, a, b, y, n);  // u8 and bool
  }
}

void Add(DType type, const void* a, const void* b, void* y, int64_t n) {
  switch (type) {
    case DType::kF32:
      return ForEach<float>(a, b, y, n, [](float p, float q) { return p + q; });
    case DType::kF64:
      return ForEach<double>(a, b, y, n, [](double p, double q) { return p + q; });
    case DType::kU32:
      return ForEach<uint32_t>(a, b, y, n, [](uint32_t p, uint32_t q) { return p + q; });
    default:
      return ForEach<uint64_t>(a, b, y, n, [](uint64_t p, uint64_t q) { return p + q; });
  }
}

}  // namespace

const BinaryTable kBinarySimd = {Run};
const AddTable kAddSimd = {Add};

}  // namespace tern::cpu::TERN_SIMD
