#include "kernels/cpu/byte/byte_pool_simd.h"

#include "kernels/cpu/byte/lanes-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using L = Lanes<kVectorBytes>;

inline L::Bytes Larger(L::Bytes a, L::Bytes b) {
#if defined(__SSE2__)
  return L::Bytes(LargerBytes(L::Raw(a), L::Raw(b)));
#else
  return a > b ? a : b;
#endif
}

// Returns the largest tap. load(p) returns channels at address p.
template <class T, class Load, class Max>
inline T Largest(const ByteWindow& w, const Load& load, const Max& max) {
  T y = load(w.first);
  for (int64_t i = 0; i < w.count[0]; ++i)
    for (int64_t j = 0; j < w.count[1]; ++j)
      for (int64_t k = 0; k < w.count[2]; ++k)
        y = max(y, load(w.first + i * w.step[0] + j * w.step[1] + k * w.step[2]));
  return y;
}

// The last vector ends with the last channel and may overlap the vector before it.
void Max(const ByteWindow& w, int64_t channels, uint8_t flip, uint8_t* y) {
  if (channels < kVectorBytes) {
    for (int64_t c = 0; c < channels; ++c)
      y[c] = Largest<uint8_t>(
                 w, [=](const uint8_t* p) { return static_cast<uint8_t>(p[c] ^ flip); },
                 [](uint8_t a, uint8_t b) { return a > b ? a : b; }) ^
             flip;
    return;
  }
  for (int64_t i = 0; i < channels; i += kVectorBytes) {
    const int64_t c = MinOf<int64_t>(i, channels - kVectorBytes);
    L::Store(y + c, Largest<L::Bytes>(
                        w, [=](const uint8_t* p) { return L::Load(p + c) ^ flip; }, Larger) ^
                        flip);
  }
}

// Adds `count` pixels, of which there are at most four.
inline void AddPixels(const uint8_t* x, int64_t stride, int count, uint8_t flip, const int8_t* ones,
                      L::Ints (&sum)[4]) {
  L::Bytes pixel[4], quad[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) pixel[i] = i < count ? L::Load(x + i * stride) ^ flip : L::Bytes{};
  L::Interleave(pixel, quad);
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) L::AddDot(sum[v], quad[v], ones);
}

void Sum(const uint8_t* x, int64_t stride, int64_t pixels, int64_t channels, uint8_t flip, int32_t* sums) {
  if (channels < kVectorBytes) {
    for (int64_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int64_t i = 0; i < pixels; ++i) sum += x[i * stride + c] ^ flip;
      sums[c] = sum;
    }
    return;
  }
  int8_t ones[kVectorBytes];
  for (int8_t& one : ones) one = 1;
  for (int64_t i = 0; i < channels; i += kVectorBytes) {
    const int64_t c = MinOf<int64_t>(i, channels - kVectorBytes);
    L::Ints sum[4] = {};
    int64_t pixel = 0;
    for (; pixel + 4 <= pixels; pixel += 4) AddPixels(x + pixel * stride + c, stride, 4, flip, ones, sum);
    if (pixel < pixels)
      AddPixels(x + pixel * stride + c, stride, static_cast<int>(pixels - pixel), flip, ones, sum);
    for (int v = 0; v < 4; ++v) L::StoreSums(sum[v], v, sums + c);
  }
}

}  // namespace

const BytePoolTable kBytePoolSimd = {Max, Sum};

}  // namespace tern::cpu::TERN_SIMD
