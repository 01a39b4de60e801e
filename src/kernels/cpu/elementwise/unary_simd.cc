#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/elementwise/math-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Applies f to vectors. A partial last vector uses the same instructions, so that the result does not depend
// on how a tensor is split between threads.
template <class F> inline void MapVectors(const float* x, float* y, int64_t n, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreVector(y + i, f(LoadVector(x + i)));
  if (i < n) StorePart(y + i, f(LoadPart(x + i, n - i)), n - i);
}

template <class F> inline void MapElements(const float* x, float* y, int64_t n, const F& f) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

inline Floats Mish(Floats x) {
  const Floats e = Exp(x), t = e * (e + 2.f);
  return x > 20.f ? x : x * (t / (t + 2.f));
}

inline Floats ClampToUnit(Floats x) { return AtMost(AtLeast(x, 0.f), 1.f); }

// Uses (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)).
inline Floats GeluTanh(Floats x) { return x / (1.f + Exp(-x * (1.59576912f + 0.0713548163f * x * x))); }

// Computes activations with parameters.
void WithParameters(UnaryKind kind, const float* x, float* y, int64_t n, float a, float b) {
  using K = UnaryKind;
  switch (kind) {
    case K::kLeakyRelu:
      return MapVectors(x, y, n, [=](Floats v) { return v < 0.f ? a * v : v; });
    case K::kElu:
      return MapVectors(x, y, n, [=](Floats v) { return v < 0.f ? a * ExpMinusOne(v) : v; });
    case K::kSelu:
      return MapVectors(x, y, n, [=](Floats v) { return b * (v > 0.f ? v : a * ExpMinusOne(v)); });
    case K::kCelu:
      return MapVectors(x, y, n, [=](Floats v) { return v < 0.f ? a * ExpMinusOne(v / a) : v; });
    case K::kHardSigmoid:
      return MapVectors(x, y, n, [=](Floats v) { return ClampToUnit(a * v + b); });
    case K::kThresholdedRelu:
      return MapVectors(x, y, n, [=](Floats v) { return v > a ? v : All(0.f); });
    case K::kSwish:
      return MapVectors(x, y, n, [=](Floats v) { return v / (1.f + Exp(-a * v)); });
    case K::kShrink:
      return MapVectors(x, y, n, [=](Floats v) { return v < -a ? v + b : (v > a ? v - b : All(0.f)); });
    case K::kAffine:
      return MapVectors(x, y, n, [=](Floats v) { return a * v + b; });
    case K::kClip:
      return MapVectors(x, y, n, [=](Floats v) { return AtMost(AtLeast(v, a), b); });
    default:
      return;
  }
}

// Computes rarely used functions with the C library.
void Trigonometric(UnaryKind kind, const float* x, float* y, int64_t n) {
  using K = UnaryKind;
  switch (kind) {
    case K::kSin:
      return MapElements(x, y, n, [](float v) { return __builtin_sinf(v); });
    case K::kCos:
      return MapElements(x, y, n, [](float v) { return __builtin_cosf(v); });
    case K::kTan:
      return MapElements(x, y, n, [](float v) { return __builtin_tanf(v); });
    case K::kAsin:
      return MapElements(x, y, n, [](float v) { return __builtin_asinf(v); });
    case K::kAcos:
      return MapElements(x, y, n, [](float v) { return __builtin_acosf(v); });
    case K::kAtan:
      return MapElements(x, y, n, [](float v) { return __builtin_atanf(v); });
    case K::kSinh:
      return MapElements(x, y, n, [](float v) { return __builtin_sinhf(v); });
    case K::kCosh:
      return MapElements(x, y, n, [](float v) { return __builtin_coshf(v); });
    case K::kAsinh:
      return MapElements(x, y, n, [](float v) { return __builtin_asinhf(v); });
    case K::kAcosh:
      return MapElements(x, y, n, [](float v) { return __builtin_acoshf(v); });
    case K::kAtanh:
      return MapElements(x, y, n, [](float v) { return __builtin_atanhf(v); });
    default:
      return;
  }
}

void Run(UnaryKind kind, const float* x, float* y, int64_t n, float alpha, float beta) {
  using K = UnaryKind;
  switch (kind) {
    case K::kAbs:
      return MapVectors(x, y, n, [](Floats v) { return Absolute(v); });
    case K::kNeg:
      return MapVectors(x, y, n, [](Floats v) { return -v; });
    case K::kSign:
      return MapVectors(x, y, n, [](Floats v) { return v > 0.f ? All(1.f) : (v < 0.f ? All(-1.f) : v); });
    case K::kCeil:
      return MapElements(x, y, n, [](float v) { return __builtin_ceilf(v); });
    case K::kFloor:
      return MapElements(x, y, n, [](float v) { return __builtin_floorf(v); });
    case K::kRound:
      return MapElements(x, y, n, [](float v) { return __builtin_nearbyintf(v); });
    case K::kSqrt:
      return MapElements(x, y, n, [](float v) { return __builtin_sqrtf(v); });
    case K::kReciprocal:
      return MapVectors(x, y, n, [](Floats v) { return 1.f / v; });
    case K::kExp:
      return MapVectors(x, y, n, [](Floats v) { return Exp(v); });
    case K::kLog:
      return MapVectors(x, y, n, [](Floats v) { return Log(v); });
    case K::kTanh:
      return MapVectors(x, y, n, [](Floats v) { return Tanh(v); });
    case K::kErf:
      return MapVectors(x, y, n, [](Floats v) { return Erf(v); });
    case K::kSigmoid:
      return MapVectors(x, y, n, [](Floats v) { return Sigmoid(v); });
    case K::kRelu:
      return MapVectors(x, y, n, [](Floats v) { return AtLeast(v, 0.f); });
    case K::kSoftplus:
      return MapVectors(x, y, n, [](Floats v) { return Softplus(v); });
    case K::kSoftsign:
      return MapVectors(x, y, n, [](Floats v) { return v / (1.f + Absolute(v)); });
    case K::kHardSwish:
      return MapVectors(x, y, n, [](Floats v) { return v * ClampToUnit(v * (1.f / 6.f) + 0.5f); });
    case K::kMish:
      return MapVectors(x, y, n, [](Floats v) { return Mish(v); });
    case K::kGelu:
      return MapVectors(x, y, n, [](Floats v) { return Gelu(v); });
    case K::kGeluTanh:
      return MapVectors(x, y, n, [](Floats v) { return GeluTanh(v); });
    default:
      break;
  }
  if (kind < K::kErf)
    Trigonometric(kind, x, y, n);
  else
    WithParameters(kind, x, y, n, alpha, beta);
}

void WidenHalf(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Widen(Half{x[i]});
}
void WidenBFloat(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Widen(BFloat{x[i]});
}
void RoundToHalf(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = ToHalf(x[i]).bits;
}
void RoundToBFloat(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = ToBFloat(x[i]).bits;
}

}  // namespace

const UnaryTable kUnarySimd = {Run, WidenHalf, WidenBFloat, RoundToHalf, RoundToBFloat};

}  // namespace tern::cpu::TERN_SIMD
