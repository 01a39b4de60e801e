// Winograd convolution over [N, H, W, C] in f32: 3x3 and 5x5 kernels, stride 1, no dilation, any padding.
// Tiles of the image are transformed, multiplied by transformed weights, and transformed back. The elements
// of a transformed tile are called positions, and each position is a separate matrix product. Winograd
// convolution takes fewer multiplications than direct sums and has larger rounding errors
// (docs/reports/accuracy.md).
//
// The result is bit-identical for any number of threads. A NaN or infinity in the image makes all results
// of the tiles that contain it NaN. Other results do not change. A tile has side() x side() pixels, see
// WinogradSize.
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

// Returns a bound of the root mean square error for random data, divided by the root mean square of the
// results (measured in docs/reports/accuracy.md). A unit whose error exceeds kWinogradErrorAllowed is chosen
// only with fast math. Here and below, `channels` is the number of input channels per group.
double WinogradError(WinogradUnit unit);
constexpr double kWinogradErrorAllowed = 1e-6;

// Returns whether the unit supports the kernel, stride, dilation and groups of the shape.
bool WinogradFits(const ConvShape& shape, WinogradUnit unit);

// Returns the size of the transformed and packed weights [maps, channels, kernel, kernel], in dwords.
int64_t WinogradWeightsSize(WinogradUnit unit, int64_t channels, int64_t maps,
                            Operands operands = Operands::kF32);
void PackWinogradWeights(WinogradUnit unit, const float* w, int64_t channels, int64_t maps, float* to,
                         const Workers& workers, Operands operands = Operands::kF32);

class Winograd {
 public:
  Winograd() = default;
  // With bf16 operands, transformed tiles and weights are rounded. The unit must be F(2,3). If there are
  // several groups, each group must have an even number of channels.
  Winograd(const ConvShape& shape, WinogradUnit unit, Operands operands = Operands::kF32);
  // storage.y requires bf16 operands. storage.x must be false.
  void SetBf16Storage(const NhwcBf16Storage& storage) { bf16_y_ = storage.y; }
  // If `pool` is true, Run also applies max pooling 2 x 2 with stride 2. Then y is [N, H / 2, W / 2, M], the
  // residual has the size before pooling, and NhwcArgs::epilogue must be null.
  void SetPool(bool pool) { pool_ = pool; }
  size_t Scratch(int threads) const;
  // The amount of work of a run, from which its time is estimated.
  struct Counts {
    double products = 0;     // effective multiply-adds of dwords, see TileProducts
    double transformed = 0;  // elements of all transforms, times the side of a tile
  };
  Counts Count() const;

  // args.w must be packed weights, and scratch must be 64-byte aligned.
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
  bool bf16_y_ = false, pool_ = false;
  WinogradSize size_{};
  int64_t tile_rows_ = 0, tile_columns_ = 0;  // rows and columns of tiles in an image
  int64_t strip_ = 0, row_strips_ = 0;        // tiles per strip, strips per row of tiles
  int64_t strips_ = 0, block_strips_ = 0;     // strips of all images, strips per block
  int64_t block_tiles_ = 0, blocks_ = 0;      // maximum number of tiles per block, number of blocks
  int64_t block_maps_ = 0;                    // output channels per pass over the positions of a block
  int64_t v_position_ = 0, v_tile_ = 0;       // strides of transformed tiles, in dwords
};

}  // namespace tern::cpu
