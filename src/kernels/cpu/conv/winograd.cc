#include "kernels/cpu/conv/winograd.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/element_at.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

// Returns how many dwords of channels are added one after the other before they are added to the sums of
// other channels. Long sums round more, and the output transforms of large tiles multiply the errors.
int64_t MaxDepth(WinogradUnit unit) {
  return unit == WinogradUnit::kF23 ? 512 : unit == WinogradUnit::kF43 ? 88 : 64;
}

// A block has about kBlockTiles tiles, so that its transformed tiles and products stay in the L2 cache. A
// tile is one row of the matrix products, so a block fills a few register tiles. If the weights exceed the
// caches, a block has about kManyTiles tiles, so that there are fewer passes over the weights.
constexpr int64_t kBlockTiles = 28, kManyTiles = 56;
constexpr int64_t kLargeWeights = 16 << 20;     // bytes; larger weights exceed the caches
constexpr int64_t kProducts = (256 << 10) / 4;  // maximum floats of products per block
constexpr int64_t kMinMaps = 64;                // minimum number of output channels per pass
// Maximum scratch floats of the blocks that all threads compute together.
constexpr int64_t kMaxShared = 8 << 20;
constexpr int64_t kWorthSharing = 1 << 21;  // minimum multiply-adds for which sharing blocks pays
// Channels per job of a shared block. More than two threads get smaller jobs if there are few strips.
constexpr int64_t kJobChannels = 64, kMinJobChannels = 16;

const WinogradTable::Unit& Functions(WinogradUnit unit) {
  return WinogradSimd().units[static_cast<int>(unit)];
}

const WinogradBf16Table& FunctionsInBf16() {
#if TERN_BF16_PRODUCTS
  if (ActiveBf16Products()) return avx512_bf16::kWinogradBf16Simd;
#endif
  return WinogradBf16Simd();
}

auto InputOf(WinogradUnit unit, Operands operands) {
  return operands == Operands::kF32 ? Functions(unit).input : FunctionsInBf16().input;
}

auto OutputOf(WinogradUnit unit, Operands operands) {
  return operands == Operands::kF32 ? Functions(unit).output : FunctionsInBf16().output;
}

}  // namespace

WinogradSize SizeOf(WinogradUnit unit) {
  constexpr WinogradSize kSizes[kWinogradUnits] = {{3, 2}, {3, 4}, {3, 6}, {5, 2}, {5, 4}};
  return kSizes[static_cast<int>(unit)];
}

double WinogradError(WinogradUnit unit) {
  constexpr double kErrors[kWinogradUnits] = {8e-7, 1e-6, 4e-6, 1e-6, 4e-6};
  return kErrors[static_cast<int>(unit)];
}

bool WinogradFits(const ConvShape& s, WinogradUnit unit) {
  const int64_t r = SizeOf(unit).kernel;
  // A panel of weights must not contain output channels of two groups.
  const bool groups = s.group == 1 || s.group_maps() % TileSimd().columns == 0;
  return groups && s.kernel == Spatial{1, r, r} && s.input[0] == 1 && s.output[0] == 1 && s.begin[0] == 0 &&
         s.stride == Spatial{1, 1, 1} && s.dilation == Spatial{1, 1, 1};
}

int64_t WinogradWeightsSize(WinogradUnit unit, int64_t channels, int64_t maps, Operands operands) {
  return SizeOf(unit).positions() * PanelsSize(channels, maps, operands);
}

void PackWinogradWeights(WinogradUnit unit, const float* w, int64_t channels, int64_t maps, float* to,
                         const Workers& workers, Operands operands) {
  const TileTable& table = TileFor(operands);
  const int64_t width = table.columns, taps = SizeOf(unit).kernel * SizeOf(unit).kernel;
  const int64_t step = PanelsSize(channels, maps, operands), panel_step = width * table.dwords(channels);
  const bool rounded = operands != Operands::kF32;
  workers.ParallelFor(CeilDiv(maps, width), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> exact(static_cast<size_t>(rounded ? SizeOf(unit).positions() * width * channels : 0));
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * width, columns = std::min(width, maps - first);
      float* packed_panel = to + panel * panel_step;
      Functions(unit).weights({w + first * channels * taps, channels, columns,
                               rounded ? exact.data() : packed_panel, width,
                               rounded ? width * channels : step});
      for (int64_t i = 0; rounded && i < SizeOf(unit).positions(); ++i)
        table.pack(exact.data() + i * width * channels, width, 1, channels, columns, 1.0f,
                   packed_panel + i * step);
    }
  });
}

// Several neighbouring strips. A block runs the input transform of all its strips, then the products, then
// the output transform.
struct Winograd::Block {
  int64_t strip0 = 0, strip1 = 0;
  int64_t tile0 = 0, tiles = 0;
  float *v = nullptr, *p = nullptr;
  int64_t p_position = 0, p_tile = 0;  // strides of products, in floats
  int64_t maps = 0;                    // output channels per pass
};

Winograd::Winograd(const ConvShape& shape, WinogradUnit unit, Operands operands)
    : shape_(shape), unit_(unit), operands_(operands), size_(SizeOf(unit)) {
  const int positions = size_.positions();
  tile_rows_ = CeilDiv(shape.output[1], size_.tile);
  tile_columns_ = CeilDiv(shape.output[2], size_.tile);
  row_strips_ = std::max<int64_t>(1, CeilDiv(tile_columns_, Functions(unit).strip));
  strip_ = CeilDiv(tile_columns_, row_strips_);
  row_strips_ = std::max<int64_t>(1, CeilDiv(tile_columns_, std::max<int64_t>(1, strip_)));
  strips_ = shape.batch * tile_rows_ * row_strips_;
  v_position_ = PositionStep(TileFor(operands).dwords(shape.channels));
  v_tile_ = TileStep(v_position_, positions);
  const int64_t bytes = WinogradWeightsSize(unit, shape.group_channels(), shape.maps, operands) * 4;
  const int64_t max_tiles = bytes > kLargeWeights ? kManyTiles : kBlockTiles;
  block_strips_ = std::max<int64_t>(1, max_tiles / std::max<int64_t>(1, strip_));
  blocks_ = CeilDiv(strips_, block_strips_);
  block_strips_ = CeilDiv(strips_, std::max<int64_t>(1, blocks_));
  blocks_ = block_strips_ > 0 ? CeilDiv(strips_, block_strips_) : 0;
  block_tiles_ = block_strips_ * strip_;
  // If there is only one block, it computes all output channels in one pass and reads the weights once, in
  // memory order. With bf16 operands, a single pass is not faster, because the products of all output
  // channels need too much cache. So the block takes several passes.
  const bool in_order = blocks_ <= 1 && operands == Operands::kF32;
  const int64_t maps = in_order ? shape.maps : std::max(kMinMaps, kProducts / (positions * max_tiles));
  const int64_t width = TileSimd().columns;
  block_maps_ = std::min(shape.maps, maps < width ? width : maps / width * width);
}

Winograd::Counts Winograd::Count() const {
  const double tiles = static_cast<double>(shape_.batch * tile_rows_ * tile_columns_),
               positions = size_.positions();
  if (tiles == 0 || shape_.maps == 0) return {};
  const TileTable& table = TileFor(operands_);
  const int64_t rows = std::max<int64_t>(1, block_tiles_);
  Counts c;
  c.products = positions * tiles / static_cast<double>(rows) * static_cast<double>(shape_.group) *
               TileProducts(table, rows, shape_.group_maps(), table.dwords(shape_.group_channels()));
  c.transformed = tiles * positions * size_.side() * static_cast<double>(shape_.channels + shape_.maps);
  return c;
}

int64_t Winograd::BlockFloats(int64_t maps) const {
  return block_tiles_ * (v_tile_ + TileStep(PositionStep(maps), size_.positions()));
}

// Returns the first block that all threads share. Each thread first computes the same number of blocks alone.
// Then all threads share the remaining blocks. If there are few blocks, all blocks are shared. If there is
// little work and at least one block per thread, no block is shared, because sharing has the overhead of
// three parallel loops.
int64_t Winograd::FirstShared(int threads) const {
  if (threads == 1) return blocks_;
  const int64_t products = size_.positions() * blocks_ * block_tiles_ * shape_.group_channels() * shape_.maps;
  if (blocks_ >= threads && products < kWorthSharing) return blocks_;
  return blocks_ < 2 * threads ? 0 : blocks_ / threads * threads;
}

int64_t Winograd::SharedAtOnce(int threads) const {
  const int64_t max_blocks =
      std::max<int64_t>(1, kMaxShared / std::max<int64_t>(1, BlockFloats(shape_.maps)));
  return std::min(max_blocks, blocks_ - FirstShared(threads));
}

size_t Winograd::Scratch(int threads) const {
  return MostScratch(threads, [&](int n) {
    const int64_t own_floats = FirstShared(n) > 0 ? n * BlockFloats(block_maps_) : 0;
    return static_cast<size_t>(std::max(own_floats, SharedAtOnce(n) * BlockFloats(shape_.maps))) *
           sizeof(float);
  });
}

// Returns the index of the first tile of a strip. Tiles are numbered consecutively through all images. All
// strips of a row except the last strip have the same length.
int64_t Winograd::FirstTile(int64_t strip) const {
  return strip / row_strips_ * tile_columns_ + strip % row_strips_ * strip_;
}

Winograd::Block Winograd::BlockOf(int64_t index, int64_t maps, float* scratch) const {
  Block b;
  b.strip0 = index * block_strips_, b.strip1 = std::min(b.strip0 + block_strips_, strips_);
  b.tile0 = FirstTile(b.strip0), b.tiles = FirstTile(b.strip1) - b.tile0;
  b.v = scratch, b.p = scratch + block_tiles_ * v_tile_;
  b.p_position = PositionStep(maps), b.p_tile = TileStep(b.p_position, size_.positions());
  b.maps = maps;
  return b;
}

// Applies the input transform to channels [begin, end) of a strip.
void Winograd::Input(const NhwcArgs& args, const Block& block, int64_t strip, int64_t begin,
                     int64_t end) const {
  const int64_t row = strip / row_strips_, image = row / tile_rows_, column = strip % row_strips_ * strip_;
  WinogradInput in;
  in.height = shape_.input[1], in.width = shape_.input[2], in.channels = shape_.channels;
  in.x = args.x + image * in.height * in.width * in.channels;
  in.first_row = row % tile_rows_ * size_.tile - shape_.begin[1];
  in.first_column = column * size_.tile - shape_.begin[2];
  in.tiles = std::min(strip_, tile_columns_ - column);
  in.begin = begin, in.end = end;
  in.v = block.v + (FirstTile(strip) - block.tile0) * v_tile_;
  in.tile_step = v_tile_, in.position_step = v_position_;
  InputOf(unit_, operands_)(in);
}

const float* Winograd::PanelOf(const NhwcArgs& args, int64_t position, int64_t panel) const {
  const TileTable& table = TileFor(operands_);
  const int64_t k = table.dwords(shape_.group_channels());
  return args.w + position * PanelsSize(k, shape_.maps) + panel * table.columns * k;
}

// Computes the products of one position with panels [begin, end), which belong to one pass of output
// channels. `next` is the panel to prefetch, or null.
void Winograd::Multiply(const NhwcArgs& args, const Block& block, int64_t position, int64_t begin,
                        int64_t end, const float* next) const {
  const TileScope scope;
  const TileTable& table = TileFor(operands_);
  const int64_t k = table.dwords(shape_.group_channels()),
                parts = std::max<int64_t>(1, CeilDiv(k, MaxDepth(unit_))),
                depth = std::max<int64_t>(8, RoundUp(CeilDiv(k, parts), 8));
  const int64_t map0 = begin * table.columns / block.maps * block.maps;
  Tile t;
  t.a_row = v_tile_, t.c_row = block.p_tile;
  // With few_rows, results depend on tile heights. Tile heights do not depend on the number of threads, so
  // results are bit-identical for any number of threads.
  t.few_rows = true;
  // Each tile prefetches its share of the next panel.
  t.prefetch_step = CeilDiv(table.columns, CeilDiv(block.tiles, table.rows));
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t map = panel * table.columns;
    const float* b = PanelOf(args, position, panel);
    const float* a = block.v + position * v_position_ + map / shape_.group_maps() * k;
    t.columns = std::min<int64_t>(table.columns, shape_.maps - map);
    t.c = block.p + position * block.p_position + (map - map0);
    for (int64_t k0 = 0; k0 < std::max<int64_t>(k, 1); k0 += depth) {
      t.k = std::min(depth, k - k0);
      t.accumulate = k0 > 0;
      t.a = a + k0, t.b = b + k0 * table.columns;
      const float* following = panel + 1 < end ? b + k * table.columns : next;
      t.prefetch = following ? following + k0 * table.columns : nullptr;
      table.RunRows(t, block.tiles);
    }
  }
}

// Applies the output transform and the epilogue to output channels [begin, end) of a strip.
void Winograd::Output(const NhwcArgs& args, const Block& block, int64_t strip, int64_t begin,
                      int64_t end) const {
  const int64_t row = strip / row_strips_, image = row / tile_rows_, column = strip % row_strips_ * strip_;
  const int64_t height = shape_.output[1], width = shape_.output[2], maps = shape_.maps;
  const int64_t y0 = row % tile_rows_ * size_.tile, x0 = column * size_.tile;
  const int64_t at = ((image * height + y0) * width + x0) * maps + begin;
  WinogradOutput out;
  out.p = block.p + (FirstTile(strip) - block.tile0) * block.p_tile + begin % block.maps;
  out.tile_step = block.p_tile, out.position_step = block.p_position;
  out.tiles = std::min(strip_, tile_columns_ - column);
  out.pool = pool_;
  const int64_t side = pool_ ? 2 : 1;  // results per pixel of y, along each axis
  const int64_t first = (image * (height / side) + y0 / side) * (width / side) + x0 / side;
  const int64_t pixel = args.pixel_stride_or(maps);
  out.y = ElementAt(args.y, first * pixel + begin, bf16_y_);
  out.bf16_y = bf16_y_, out.bf16_residual = args.tile.bf16_residual;
  out.row_step = width / side * pixel, out.column_step = pixel;
  out.residual_row_step = width * maps, out.residual_column_step = maps;
  out.rows = height - y0, out.columns = width - x0;
  out.maps = end - begin;
  out.bias = args.tile.bias ? args.tile.bias + begin : nullptr;
  out.residual = args.tile.residual ? ElementAt(args.tile.residual, at, args.tile.bf16_residual) : nullptr;
  out.clip = args.tile.clip, out.low = args.tile.low, out.high = args.tile.high;
  OutputOf(unit_, operands_)(out);
  if (!args.epilogue || args.epilogue->empty()) return;
  const int64_t columns = std::min(out.columns, out.tiles * size_.tile);
  for (int64_t r = 0; r < std::min<int64_t>(out.rows, size_.tile); ++r) {
    const int64_t index = at + r * out.row_step;
    args.epilogue->Apply(out.maps == maps
                             ? Epilogue::Rows{1, columns * maps, index, 0, args.y + index, 0}
                             : Epilogue::Rows{columns, out.maps, index, maps, args.y + index, maps});
  }
}

void Winograd::RunBlock(const NhwcArgs& args, const Block& block) const {
  const int64_t width = TileSimd().columns;
  for (int64_t s = block.strip0; s < block.strip1; ++s) Input(args, block, s, 0, shape_.channels);
  for (int64_t map = 0; map < shape_.maps; map += block.maps) {
    const int64_t end = std::min(map + block.maps, shape_.maps);
    for (int64_t i = 0; i < size_.positions(); ++i)
      Multiply(args, block, i, map / width, CeilDiv(end, width),
               i + 1 < size_.positions() ? PanelOf(args, i + 1, map / width) : nullptr);
    for (int64_t s = block.strip0; s < block.strip1; ++s) Output(args, block, s, map, end);
  }
}

// Computes blocks [first, last) with all threads. The scratch memory contains all these blocks at once.
void Winograd::ShareBlocks(const NhwcArgs& args, int64_t first, int64_t last, float* scratch,
                           const Workers& workers) const {
  const auto block = [&](int64_t b) {
    return BlockOf(b, shape_.maps, scratch + (b - first) * BlockFloats(shape_.maps));
  };
  const int64_t strip0 = first * block_strips_, strips = std::min(last * block_strips_, strips_) - strip0;
  const auto transform = [&](int64_t channels, auto part) {  // part(strip, first channel, end channel)
    const int threads = workers.threads();
    const int64_t even = RoundUp(CeilDiv(channels * strips, 4 * int64_t{threads}), kMinJobChannels),
                  step = threads <= 2 ? kJobChannels : std::clamp(even, kMinJobChannels, kJobChannels),
                  parts = CeilDiv(channels, step);
    workers.ParallelFor(strips * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t job = begin; job < end; ++job) {
        const int64_t c = job % parts * step;
        part(strip0 + job / parts, c, std::min(c + step, channels));
      }
    });
  };
  transform(shape_.channels, [&](int64_t strip, int64_t begin, int64_t end) {
    Input(args, block(strip / block_strips_), strip, begin, end);
  });
  const int64_t panels = CeilDiv(shape_.maps, TileSimd().columns), blocks = last - first;
  workers.ParallelFor(size_.positions() * panels * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      const int64_t position = job / blocks / panels, panel = job / blocks % panels;
      const bool prefetches = job % blocks + 1 == blocks && job + 1 < end;
      Multiply(args, block(first + job % blocks), position, panel, panel + 1,
               prefetches ? PanelOf(args, position, panel + 1) : nullptr);
    }
  });
  transform(shape_.maps, [&](int64_t strip, int64_t begin, int64_t end) {
    Output(args, block(strip / block_strips_), strip, begin, end);
  });
}

void Winograd::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  if (block_tiles_ == 0) return;
  auto* floats = static_cast<float*>(scratch);
  const int64_t shared = FirstShared(workers.threads()), step = SharedAtOnce(workers.threads());
  workers.ParallelFor(shared, 1, [&](int64_t begin, int64_t end, int worker) {
    float* thread_scratch = floats + BlockFloats(block_maps_) * worker;
    for (int64_t b = begin; b < end; ++b) RunBlock(args, BlockOf(b, block_maps_, thread_scratch));
  });
  for (int64_t b = shared; b < blocks_; b += step)
    ShareBlocks(args, b, std::min(b + step, blocks_), floats, workers);
}

}  // namespace tern::cpu
