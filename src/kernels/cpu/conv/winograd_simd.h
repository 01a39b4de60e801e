// The transforms of Winograd convolution, vectorized along channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// F(m x m, r x r) computes a tile of m x m results of an r x r kernel with (m + r - 1)² products. kF23 has m
// = 2 and r = 3.
enum class WinogradUnit : int { kF23, kF43, kF63, kF25, kF45 };
constexpr int kWinogradUnits = 5;

// The argument of `input`, which transforms channels [begin, end) of a strip. A strip is a row of
// neighbouring tiles of one image.
struct WinogradInput {
  const float* x = nullptr;  // the image: [height, width, channels]
  int64_t height = 0, width = 0, channels = 0;
  // The pixel of the image at which the first tile starts. Pixels outside the image count as zeros.
  int64_t first_row = 0, first_column = 0;
  int64_t tiles = 0;                         // at most Unit::strip
  int64_t begin = 0, end = 0;                // channels; begin is a multiple of 16
  float* v = nullptr;                        // [tiles][positions][channels], f32 or bf16
  int64_t tile_step = 0, position_step = 0;  // strides in dwords; position_step is a multiple of 16
};

struct WinogradOutput {
  const float* p = nullptr;  // [tiles][positions][maps]: the products
  int64_t tile_step = 0, position_step = 0;
  int64_t tiles = 0;
  // Points to the first result of the first tile, at the first output channel. If `pool` is true, points to
  // the first pooled result.
  float* y = nullptr;
  int64_t row_step = 0, column_step = 0;
  // The number of output rows and columns from the first result of the first tile to the end of the image.
  int64_t rows = 0, columns = 0;
  int64_t maps = 0;                 // number of output channels
  const float* bias = nullptr;      // one per output channel
  const float* residual = nullptr;  // one per result
  int64_t residual_row_step = 0, residual_column_step = 0;
  bool clip = false;  // clips to [low, high]; NaN stays NaN
  float low = 0, high = 0;
  // Whether to apply max pooling 2 x 2 with stride 2 after the epilogue. An odd last row or column is
  // dropped.
  bool pool = false;
  // Whether y and residual are bf16 in memory. Only WinogradBf16Table supports this.
  bool bf16_y = false, bf16_residual = false;
};

// The argument of `weights`, which transforms the weights of one panel of output channels.
struct WinogradWeights {
  const float* w = nullptr;  // [maps][channels][r][r]
  int64_t channels = 0, maps = 0;
  // Output: one panel [channels][width] per position. Columns after the last output channel are zeros.
  float* u = nullptr;
  int64_t width = 0, position_step = 0;
};

struct WinogradTable {
  struct Unit {
    int kernel, tile, strip;  // r, m, maximum number of tiles of a strip
    void (*input)(const WinogradInput& strip);
    void (*output)(const WinogradOutput& strip);
    void (*weights)(const WinogradWeights& panel);
  };
  Unit units[kWinogradUnits];
};
TERN_SIMD_TABLE(WinogradTable, WinogradSimd)

// The transforms of F(2,3) that differ for bf16 operands.
struct WinogradBf16Table {
  void (*input)(const WinogradInput& strip);  // rounds to bf16
  void (*output)(const WinogradOutput& strip);
};
TERN_SIMD_TABLE(WinogradBf16Table, WinogradBf16Simd)
namespace avx512_bf16 {
extern const WinogradBf16Table kWinogradBf16Simd;  // x86-64 only
}

}  // namespace tern::cpu
