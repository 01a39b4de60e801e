// The transforms of Winograd's convolution; vectors lie along the channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// F(m x m, r x r): tiles of m x m results from (m + r - 1)² products.
enum class WinogradUnit : int { kF23, kF43, kF63, kF25, kF45 };
constexpr int kWinogradUnits = 5;

// A row of neighbouring tiles of one image, some of its channels.
struct WinogradInput {
  const float* x = nullptr;  // the image: [height, width, channels]
  int64_t height = 0, width = 0, channels = 0;
  int64_t first_row = 0, first_column = 0;   // of the first tile; outside of the image are zeros
  int64_t tiles = 0;                         // at most table.strip
  int64_t begin = 0, end = 0;                // channels; begin is a multiple of 16
  float* v = nullptr;                        // [tiles][positions][channels]: floats, or bf16 in pairs
  int64_t tile_step = 0, position_step = 0;  // in words; position_step: a multiple of 16, holds all channels
};

struct WinogradOutput {
  const float* p = nullptr;  // [tiles][positions][maps]: the products
  int64_t tile_step = 0, position_step = 0;
  int64_t tiles = 0;
  float* y = nullptr;  // where the first tile's first result of the first map goes, or its first window's
  int64_t row_step = 0, column_step = 0;
  int64_t rows = 0, columns = 0;    // of the image, from the first tile's corner on
  int64_t maps = 0;                 // here
  const float* bias = nullptr;      // one per map
  const float* residual = nullptr;  // one per result
  int64_t residual_row_step = 0, residual_column_step = 0;
  bool clip = false;  // to [low, high]; NaN stays
  float low = 0, high = 0;
  // y gets the largest of every 2 x 2 results, in the end; an odd last row or column is in no window.
  bool pool = false;
  bool narrow_y = false, narrow_residual = false;  // bf16 in memory: WinogradBf16Table's output only
};

// The weights of up to 64 maps.
struct WinogradWeights {
  const float* w = nullptr;  // [maps][channels][r][r]
  int64_t channels = 0, maps = 0;
  float* u = nullptr;  // a panel per position: [channels][width], zeros behind the last map
  int64_t width = 0, position_step = 0;
};

struct WinogradTable {
  struct Unit {
    int kernel, tile, strip;  // r, m, most tiles of a strip
    void (*input)(const WinogradInput& strip);
    void (*output)(const WinogradOutput& strip);
    void (*weights)(const WinogradWeights& panel);
  };
  Unit units[kWinogradUnits];
};
TERN_SIMD_TABLE(WinogradTable, WinogradSimd)

// What differs where products are of bf16.
struct WinogradBf16Table {
  // Of F(2,3).
  void (*input)(const WinogradInput& strip);  // rounded
  void (*output)(const WinogradOutput& strip);
};
TERN_SIMD_TABLE(WinogradBf16Table, WinogradBf16Simd)
namespace avx512_bf16 {
extern const WinogradBf16Table kWinogradBf16Simd;  // x86-64 only
}

}  // namespace tern::cpu
