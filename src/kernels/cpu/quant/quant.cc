#include "kernels/cpu/quant/quant.h"

#include <algorithm>

#include "kernels/cpu/quant/quant_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

float ZeroOf(DType type, const void* zero, int64_t i) {
  if (!zero) return 0;
  switch (type) {
    case DType::kI8:
      return static_cast<const int8_t*>(zero)[i];
    case DType::kU8:
      return static_cast<const uint8_t*>(zero)[i];
    case DType::kI16:
      return static_cast<const int16_t*>(zero)[i];
    case DType::kU16:
      return static_cast<const uint16_t*>(zero)[i];
    default:
      return static_cast<float>(static_cast<const int32_t*>(zero)[i]);
  }
}

// Calls f(first, count, scale) for each run of contiguous elements that share a scale. `first` is the index
// of the first element, and `scale` is the index of the scale.
template <class F> void EachRun(const QuantShape& s, const Workers& workers, const F& f) {
  if (s.single) {
    workers.ParallelFor(s.outer * s.length * s.inner, kGrain,
                        [&](int64_t begin, int64_t end) { f(begin, end - begin, 0); });
    return;
  }
  const int64_t groups = s.block ? (s.length + s.block - 1) / s.block : 0;
  workers.ParallelFor(s.outer * s.length, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.inner)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row) {
                          const int64_t position = row % s.length;
                          if (!s.block) {
                            f(row * s.inner, s.inner, position);
                            continue;
                          }
                          const int64_t scale = (row / s.length * groups + position / s.block) * s.inner;
                          for (int64_t i = 0; i < s.inner; ++i) f(row * s.inner + i, 1, scale + i);
                        }
                      });
}

}  // namespace

bool HasQuant(DType t) { return t == DType::kI8 || t == DType::kU8 || t == DType::kI16 || t == DType::kU16; }

void QuantizeF32(const QuantShape& s, DType to, const float* x, const float* scale, const void* zero, void* y,
                 const Workers& workers) {
  const int width = BitWidth(to) / 8;
  EachRun(s, workers, [&](int64_t at, int64_t n, int64_t k) {
    QuantSimd().quantize(to, x + at, scale[k], ZeroOf(to, zero, k), static_cast<char*>(y) + at * width, n);
  });
}

void DequantizeF32(const QuantShape& s, DType from, const void* x, const float* scale, const void* zero,
                   float* y, const Workers& workers) {
  const int width = BitWidth(from) / 8;
  EachRun(s, workers, [&](int64_t at, int64_t n, int64_t k) {
    QuantSimd().dequantize(from, static_cast<const char*>(x) + at * width, ZeroOf(from, zero, k), scale[k],
                           y + at, n);
  });
}

void LookupBytes(const void* table, const void* x, void* y, int64_t n, const Workers& workers) {
  constexpr int64_t kPart = 65536;
  workers.ParallelFor(n, kPart, [&](int64_t begin, int64_t end) {
    QuantSimd().lookup(static_cast<const uint8_t*>(table), static_cast<const uint8_t*>(x) + begin,
                       static_cast<uint8_t*>(y) + begin, end - begin);
  });
}

namespace {

// `x` and `y` have n elements, at most kTile.
constexpr int64_t kTile = 512;
void RequantizeTile(const QuantParameters& from, const QuantParameters& to, const void* x, void* y,
                    int64_t n) {
  float real[kTile];
  QuantSimd().dequantize(from.type, x, from.zero, from.scale, real, n);
  QuantSimd().quantize(to.type, real, to.scale, to.zero, y, n);
}

}  // namespace

void Requantize(int64_t n, const QuantSource& x, const QuantParameters& to, void* y, const Workers& workers) {
  constexpr int64_t kCodes = 256, kShort = 2048;
  const QuantParameters& from = x.parameters;
  const int64_t x_width = BitWidth(from.type) / 8, y_width = BitWidth(to.type) / 8;
  if (x_width == 1 && y_width == 1 && n >= kShort) {
    uint8_t codes[kCodes], table[kCodes];
    for (int i = 0; i < kCodes; ++i) codes[i] = static_cast<uint8_t>(i);
    RequantizeTile(from, to, codes, table, kCodes);
    return LookupBytes(table, x.data, y, n, workers);
  }
  workers.ParallelFor(n, 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kTile)
      RequantizeTile(from, to, static_cast<const char*>(x.data) + i * x_width,
                     static_cast<char*>(y) + i * y_width, std::min(kTile, end - i));
  });
}

FloatRange RangeOf(const float* x, int64_t n, const Workers& workers) {
  constexpr int64_t kPart = 32768, kMaxParts = 128;
  const int64_t parts = std::clamp<int64_t>(n / kPart, 1, kMaxParts), part = (n + parts - 1) / parts;
  FloatRange ranges[kMaxParts];
  workers.ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = std::min(n, i * part), count = std::min(part, n - first);
      QuantSimd().range(x + first, count, &ranges[i].low, &ranges[i].high);
    }
  });
  FloatRange all;
  for (int64_t i = 0; i < parts; ++i) {
    all.low = std::min(all.low, ranges[i].low);
    all.high = std::max(all.high, ranges[i].high);
  }
  return all;
}

}  // namespace tern::cpu
