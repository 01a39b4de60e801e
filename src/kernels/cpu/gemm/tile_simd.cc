#include "kernels/cpu/gemm/tile_pack-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

struct F32 {
  static constexpr int kPerLane = 1;
  using Dword = float;
  using Row = Floats;

  static Row Load(const float* b) { return LoadVector(b); }
  static void Add(Floats& sum, float x, Row row) { sum += x * row; }
#if defined(__AVX512F__)
  static Halves LoadHalf(const float* b) { return Halves(_mm256_loadu_ps(b)); }
  static void AddHalf(Halves& sum, float x, Halves row) { sum += x * row; }
#endif

  static void Pack(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor,
                   float* to) {
    for (int64_t j = 0; j < n; j += kWidth, to += kWidth * k)
      PackPanel(b + j * column, row, column, k, MinOf<int64_t>(kWidth, n - j), factor, to);
  }
  static constexpr auto PackNearest = Pack;
  static void Copy(const float* from, int64_t count, float* to) {
    if (count > 0) __builtin_memcpy(to, from, static_cast<uint64_t>(count) * sizeof(float));
  }
};

}  // namespace

const TileTable kTileSimd = TableOf<F32>();

}  // namespace tern::cpu::TERN_SIMD
