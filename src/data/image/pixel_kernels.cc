#include "data/image/pixel_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tern::data {
namespace {

uint8_t Clip(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

template <int kChannels> void Horizontal(const uint8_t* row, const Taps& taps, uint8_t* out) {
  for (int i = 0; i < taps.outputs; ++i) {
    const uint8_t* p = row + static_cast<ptrdiff_t>(taps.first[static_cast<size_t>(i)]) * kChannels;
    int32_t sums[kChannels];
    std::fill_n(sums, kChannels, kHalf);
    const int count = taps.count[static_cast<size_t>(i)];
    for (int k = 0; k < count; ++k) {
      const int32_t weight = taps.weight(i, k);
      for (int c = 0; c < kChannels; ++c) sums[c] += p[k * kChannels + c] * weight;
    }
    for (int c = 0; c < kChannels; ++c) *out++ = Clip(sums[c]);
  }
}

void Horizontal3(const uint8_t* const rows[4], const Taps& taps, uint8_t* const out[4]) {
  for (int r = 0; r < 4; ++r) Horizontal<3>(rows[r], taps, out[r]);
}

void Vertical(const uint8_t* const* rows, int count, const int16_t* low, const int16_t* high, size_t bytes,
              uint8_t* out) {
  constexpr size_t kBlock = 128;
  for (size_t from = 0; from < bytes; from += kBlock) {
    const size_t n = std::min(kBlock, bytes - from);
    uint32_t lows[kBlock], highs[kBlock];  // unsigned, because a half may wrap around where the sum does not
    std::fill_n(lows, n, static_cast<uint32_t>(kHalf));
    std::fill_n(highs, n, 0u);
    for (int k = 0; k < count; ++k) {
      const uint8_t* p = rows[k] + from;
      const int16_t a = low[k], b = high[k];
      for (size_t i = 0; i < n; ++i) {
        lows[i] += static_cast<uint32_t>(static_cast<int16_t>(p[i]) * a);
        highs[i] += static_cast<uint32_t>(static_cast<int16_t>(p[i]) * b);
      }
    }
    for (size_t i = 0; i < n; ++i)
      out[from + i] = Clip(static_cast<int32_t>(lows[i] + (highs[i] << kLowBits)));
  }
}

void Planes3(const uint8_t* rgb, size_t width, const float scale[3], const float shift[3],
             float* const plane[3]) {
  for (size_t c = 0; c < 3; ++c) {
    float* out = plane[c];
    const float a = scale[c], b = shift[c];
    for (size_t x = 0; x < width; ++x) out[x] = rgb[3 * x + c] * a + b;
  }
}

void Scale3(const uint8_t* in, size_t count, const float scale[3], const float shift[3], float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = in[i] * scale[i % 3] + shift[i % 3];
}

const PixelKernels& BestPixelKernels() {
  const char* limit = std::getenv("TERN_ISA");
  const std::string_view isa = limit ? limit : "";
  if (const PixelKernels* avx2 = Avx2PixelKernels(); avx2 && isa != "base" && isa != "sse4") return *avx2;
  return kBasePixelKernels;
}

const PixelKernels* forced_kernels = nullptr;

}  // namespace

const PixelKernels kBasePixelKernels{"base", Horizontal3, Horizontal<1>, Vertical, Planes3, Scale3};

const PixelKernels& ActivePixelKernels() {
  static const PixelKernels& best = BestPixelKernels();
  return forced_kernels ? *forced_kernels : best;
}

void UsePixelKernels(const PixelKernels* kernels) { forced_kernels = kernels; }

}  // namespace tern::data
