#include "kernels/cpu/nbits/nbits_simd.h"

#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/nbits/digits-inl.h"
#include "kernels/cpu/nbits/scales-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Elements per dword, and the position of element e of a dword.
template <int kBits> constexpr int kPerDword = 32 / kBits;
template <int kBits> constexpr int ShiftOf(int e) {
  return kBits == 8 ? 8 * e : e < 4 ? 8 * e : 8 * (e - 4) + 4;
}

// Returns element e of each dword as f32.
template <int kBits, int e> inline Floats ElementOf(Vector<uint32_t> dwords) {
  constexpr int kShift = ShiftOf<kBits>(e);
#if defined(__AVX512F__)
  if constexpr (kBits == 4) {  // looks up the low 4 bits of each lane; the masked form avoids a false warning
    const __m512 values = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return Floats(_mm512_maskz_permutexvar_ps(0xffff, __m512i(dwords >> kShift), values));
  }
#endif
  const auto low = (dwords >> kShift) & ((1u << kBits) - 1);
  return __builtin_convertvector(Vector<int32_t>(low), Floats);
}

// Calls f with the constants 0 … N - 1.
template <int N, class F> inline void ForEach(const F& f) {
  if constexpr (N > 0) {
    ForEach<N - 1>(f);
    f.template operator()<N - 1>();
  }
}

template <int R, int kBits> void Multiply(const NBitsTile& t) {
  constexpr int lanes = kLanes<float>, kPer = kPerDword<kBits>;
  const NBitsPanel& p = t.panel;
  const int64_t steps = p.depth / p.step, groups = p.step / kPer;
  BlockReader block(p);
  Floats sum[R][kVectors] = {};
  ForEachStep(block, [&](int64_t k, const uint32_t* data) {
    Floats part[R][kVectors] = {};
    for (int64_t g = 0; g < groups; ++g, data += kWidth) {
      const float* a = t.a + k + g * kPer;
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const auto dwords = LoadVector(data + j * lanes);
        ForEach<kPer>([&]<int e>() {
          const Floats q = ElementOf<kBits, e>(dwords);
#pragma GCC unroll 4
          for (int i = 0; i < R; ++i) part[i][j] += a[i * p.depth + e] * q;
        });
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j)
        sum[i][j] += block.scale[j] * (part[i][j] - block.zero[j] * t.sums[i * steps + k / p.step]);
  });
  StoreSums(t, sum);
}

template <int R> void MultiplyAny(const NBitsTile& t) {
  if (t.panel.bits == 4)
    Multiply<R, 4>(t);
  else
    Multiply<R, 8>(t);
}

bool Sums(const float* a, int64_t steps, int64_t step, float* sums) {
  bool moderate = true;
  for (int64_t s = 0; s < steps; ++s, a += step) {
    float sum = 0;
#pragma omp simd reduction(+ : sum) reduction(& : moderate)
    for (int64_t i = 0; i < step; ++i) {
      sum += a[i];
      moderate &= __builtin_fabsf(a[i]) <= kMaxMagnitude;  // false for NaN
    }
    sums[s] = sum;
  }
  return moderate;
}

template <int kBits> void UnpackBits(const NBitsPanel& p, int64_t k0, int64_t k1, float* to) {
  constexpr int lanes = kLanes<float>, kPer = kPerDword<kBits>;
  BlockReader block(p);
  for (int64_t k = k0, opened = -1; k < k1; k += kPer) {
    if (k / p.block != opened) block.Open(opened = k / p.block);
    const uint32_t* data = block.data + k % p.block / kPer * kWidth;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const auto dwords = LoadVector(data + j * lanes);
      const Floats shift = block.zero[j] * block.scale[j];
      ForEach<kPer>([&]<int e>() {
        if (k + e < k1)
          StoreVector(to + (k - k0 + e) * kWidth + j * lanes,
                      ElementOf<kBits, e>(dwords) * block.scale[j] - shift);
      });
    }
  }
}

void Unpack(const NBitsPanel& p, int64_t k0, int64_t k1, float* to) {
  if (p.bits == 4)
    UnpackBits<4>(p, k0, k1, to);
  else
    UnpackBits<8>(p, k0, k1, to);
}

template <int R = kMaxNBitsRows> constexpr void FillRows(NBitsTable& table) {
  table.multiply[R] = MultiplyAny<R>;
  if constexpr (R > 1) FillRows<R - 1>(table);
}

constexpr NBitsTable TableOfLevel() {
  NBitsTable table{kWidth, {}, Sums, ToDigits, Unpack};
  FillRows(table);
  return table;
}

}  // namespace

const NBitsTable kNBitsSimd = TableOfLevel();

}  // namespace tern::cpu::TERN_SIMD
