// Winograd's convolution over [N, H, W, C] in f32: 3x3 and 5x5 kernels, stride 1, no dilation, any padding.
// Tiles of the image are transformed, multiplied position by position with transformed weights, and
// transformed back: fewer multiplications, some more rounding (docs/reports/accuracy.md).
//
// The result is the same for any number of threads. What is not finite in the image spreads over the tiles
// that see it (m + r - 1 pixels wide), as NaN; elsewhere it changes nothing.
#pragma once
#include <cstddef>

#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/conv/winograd_simd.h"

namespace tern::cpu {

struct WinogradSize {
  int kernel, tile;
  int side() const { return kernel + tile - 1; }
  int positions() const { return side() * side(); }
};
WinogradSize SizeOf(WinogradUnit unit);

// About the largest error over the largest result, of random data: measured in docs/reports/accuracy.md.
// Units beyond what is allowed are never chosen; direct sums in f32 reach 3e-6. Channels here and below:
// those of a group.
double WinogradError(WinogradUnit unit, int64_t channels);
constexpr double kWinogradErrorAllowed = 1e-5;

// Kernel, stride, dilation and group are what the unit computes.
bool WinogradFits(const ConvShape& shape, WinogradUnit unit);

// Weights [maps, channels, r, r], transformed and packed: words of 32 bits.
int64_t WinogradWeightsSize(WinogradUnit unit, int64_t channels, int64_t maps,
                            Operands operands = Operands::kF32);
void PackWinogradWeights(WinogradUnit unit, const float* w, int64_t channels, int64_t maps, float* to,
                         const Workers& workers, Operands operands = Operands::kF32);

class Winograd {
 public:
  Winograd() = default;
  // Operands in bf16, F(2,3) only: what is transformed is rounded; groups must have even numbers of channels
  // then.
  Winograd(const ConvShape& shape, WinogradUnit unit, Operands operands = Operands::kF32);
  // For operands in bf16; x is f32.
  void SetBf16Storage(const NhwcBf16Storage& narrow) { narrow_y_ = narrow.y; }
  // y becomes [N, H / 2, W / 2, C], the largest of every 2 x 2 results, as max pooling has it. Residuals stay
  // of the results' size; there must be no epilogue beyond the tile's.
  void SetPool(bool pool) { pool_ = pool; }
  size_t Scratch(int threads) const;
  // What a run amounts to, for estimates of its time.
  struct Counts {
    double products = 0;     // words, see TileProducts
    double transformed = 0;  // elements, times the steps that each takes
  };
  Counts Count() const;

  // w: packed; scratch: 64-byte aligned.
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  struct Block;
  int64_t FirstTile(int64_t strip) const;
  Block BlockOf(int64_t index, int64_t maps, float* scratch) const;
  void Input(const NhwcArgs& args, const Block& block, int64_t strip, int64_t begin, int64_t end) const;
  const float* PanelOf(const NhwcArgs& args, int64_t position, int64_t panel) const;
  void Multiply(const NhwcArgs& args, const Block& block, int64_t position, int64_t begin, int64_t end,
                const float* next) const;
  void Output(const NhwcArgs& args, const Block& block, int64_t strip, int64_t begin, int64_t end) const;
  void RunBlock(const NhwcArgs& args, const Block& block) const;
  void ShareBlocks(const NhwcArgs& args, int64_t first, int64_t last, float* scratch,
                   const Workers& workers) const;
  int64_t FirstShared(int threads) const;
  int64_t SharedAtOnce(int threads) const;
  int64_t BlockFloats(int64_t maps) const;

  ConvShape shape_;
  WinogradUnit unit_ = WinogradUnit::kF23;
  Operands operands_ = Operands::kF32;
  bool narrow_y_ = false, pool_ = false;
  WinogradSize size_{};
  int64_t tile_rows_ = 0, tile_columns_ = 0;  // of an image
  int64_t strip_ = 0, row_strips_ = 0;        // tiles of a strip, strips of a row of tiles
  int64_t strips_ = 0, block_strips_ = 0;     // of all images, of a block
  int64_t block_tiles_ = 0, blocks_ = 0;      // most tiles of a block
  int64_t block_maps_ = 0;                    // maps that are finished together
  int64_t v_position_ = 0, v_tile_ = 0;       // steps
};

}  // namespace tern::cpu
