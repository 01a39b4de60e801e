#include "kernels/cpu/norm/norm_simd.h"

#include "kernels/cpu/simd/sum-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kWide = kLanes<float>;

// Computes y[i] = f(x[i], i, load) for vectors of elements. To read element i of another array p, f calls
// load(p + i), which handles a partial last vector.
template <class F> inline void Map(const float* x, float* y, int64_t n, const F& f) {
  const auto full = [](const float* p) { return LoadVector(p); };
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) StoreVector(y + i, f(LoadVector(x + i), i, full));
  if (i == n) return;
  const auto part = [remaining = n - i](const float* p) { return LoadPart(p, remaining); };
  StorePart(y + i, f(LoadPart(x + i, n - i), i, part), n - i);
}

inline float RootInverse(float v) { return 1.f / __builtin_sqrtf(v); }

Moments MomentsOf(const float* x, int64_t n) {
  const float count = static_cast<float>(n), mean = SumLong(x, n, [](Floats v) { return v; }) / count;
  const float squares = SumLong(x, n, [mean](Floats v) { return (v - mean) * (v - mean); });
  return {mean, squares / count};
}

void Affine(const float* x, float mean, float factor, float shift, float* y, int64_t n) {
  Map(x, y, n, [=](Floats v, int64_t, const auto&) { return (v - mean) * factor + shift; });
}

// Computes y = (x - mean) * factor * scale + bias. scale and bias may be null.
inline void Normalize(const LayerNormParams& p, const float* x, float mean, float factor, float* y,
                      const float* bias) {
  const float* scale = p.scale;
  if (scale && bias)
    return Map(x, y, p.n, [=](Floats v, int64_t i, const auto& load) {
      return (v - mean) * factor * load(scale + i) + load(bias + i);
    });
  Map(x, y, p.n, [=](Floats v, int64_t i, const auto& load) {
    Floats z = (v - mean) * factor;
    if (scale) z *= load(scale + i);
    return bias ? z + load(bias + i) : z;
  });
}

void Layer(const LayerNormParams& p, const float* x, float* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const Moments m = MomentsOf(x + i * p.n, p.n);
    const float factor = RootInverse(m.variance + p.epsilon);
    if (p.mean) p.mean[i] = m.mean;
    if (p.inv_std) p.inv_std[i] = factor;
    Normalize(p, x + i * p.n, m.mean, factor, y + i * p.n, p.bias);
  }
}

void Rms(const LayerNormParams& p, const float* x, float* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float squares = SumLong(x + i * p.n, p.n, [](Floats v) { return v * v; });
    const float factor = RootInverse(squares / static_cast<float>(p.n) + p.epsilon);
    Normalize(p, x + i * p.n, 0.f, factor, y + i * p.n, nullptr);
  }
}

void Columns(const float* x, const float* factor, const float* shift, float* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r)
    Map(x + r * n, y + r * n, n, [=](Floats v, int64_t i, const auto& load) {
      const Floats z = v * load(factor + i);
      return shift ? z + load(shift + i) : z;
    });
}

}  // namespace

const NormTable kNormSimd = {Layer, Rms, MomentsOf, Affine, Columns};

}  // namespace tern::cpu::TERN_SIMD
