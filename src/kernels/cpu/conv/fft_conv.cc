#include "kernels/cpu/conv/fft_conv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/status.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kPassFloats = 2 << 20;  // maximum floats of spectra and products per pass
constexpr int kMaxLanes = 16;

int64_t Pair() { return 2 * FftSimd().lanes; }  // channels per transform: two vectors

// Factors that undo the scaling of Pair() channels. See `back` in fft_simd.h.
struct Unscale {
  float of[2 * kMaxLanes];
};

double Squares(const float* w, int64_t taps) {
  double squares = 0;
  for (int64_t i = 0; i < taps; ++i) squares += double{w[i]} * w[i];
  return squares;
}

int Exponent(double squares) { return std::clamp(std::ilogb(squares) / 2, -126, 126); }

// Returns the power of two that scales a kernel to a norm of about 1, and sets `back` to its inverse. So all
// kernels that share a transform have a similar magnitude. In FftDepthwise, their products with the image
// have a similar magnitude too, because the image is scaled to about 1 as well. Returns 0 for a kernel of
// zeros (`back` is 0) and for a kernel with a NaN or infinity (`back` is NaN).
double KernelScale(const float* w, int64_t taps, float& back) {
  const double squares = Squares(w, taps);
  back = std::isfinite(squares) ? 0.f : std::numeric_limits<float>::quiet_NaN();
  if (!std::isfinite(squares) || squares == 0) return 0;
  back = std::ldexp(1.f, Exponent(squares));
  return std::ldexp(1., -Exponent(squares));
}

// Returns the power of two by which all kernels of an output channel are divided, so that no spectrum
// overflows.
float MapBack(const float* w, int64_t channels, int64_t taps) {
  int exponent = 0;
  for (int64_t i = 0; i < channels; ++i) {
    const double squares = Squares(w + i * taps, taps);
    if (std::isfinite(squares) && squares > 0) exponent = std::max(exponent, Exponent(squares));
  }
  return std::ldexp(1.f, exponent);
}

// Computes the twiddle factors of transforms of up to `largest` numbers, in the order of FftTile::factors.
std::vector<float> Factors(int64_t largest) {
  std::vector<float> factors;
  for (int64_t n = 4; n <= largest; n *= 2)
    for (int64_t j = 0; j < n / 4; ++j)
      for (int64_t power = 1; power <= 3; ++power) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(j * power) / static_cast<double>(n);
        factors.push_back(static_cast<float>(std::cos(angle)));
        factors.push_back(static_cast<float>(std::sin(angle)));
      }
  return factors;
}

// Returns the index of a frequency in the output of a transform of n numbers. The output is in digit-reversed
// order.
int64_t IndexOf(int64_t frequency, int64_t n) {
  if (n <= 2) return frequency;
  return frequency % 4 * (n / 4) + IndexOf(frequency / 4, n / 4);
}

// Transforms the kernels of `maps` output channels and one input channel. `map` is the stride between
// kernels, in floats.
void LoadKernel(const ConvShape& s, const FftTile& tile, const float* w, int64_t map, int64_t maps,
                float* back) {
  const int64_t rows = int64_t{1} << tile.rows_log;
  std::fill(tile.z, tile.z + rows * tile.row_step, 0.f);
  for (int64_t i = 0; i < maps; ++i, w += map) {
    const double scale = KernelScale(w, s.taps(), back[i]);
    for (int64_t ky = 0; ky < s.kernel[1]; ++ky)
      for (int64_t kx = 0; kx < s.kernel[2] && scale > 0; ++kx)
        tile.z[ky * s.dilation[1] * tile.row_step + kx * s.dilation[2] * Pair() + i] =
            static_cast<float>(w[ky * s.kernel[2] + kx] * scale);
  }
  FftSimd().forward(tile, 0, s.span(1, 1));
}

// Estimates the time of transforming `pairs` pairs of vectors, in microseconds. Forward and inverse
// transforms take the same time. Lines of more than 256 numbers do not fit into the L1 cache and take twice
// as long.
double TransformCost(const FftSize& tile, double pairs) {
  const auto size = static_cast<double>(tile.rows() * tile.columns());
  const double per_element = (4.5e-4 * std::log2(size) + 6e-3) * FftSimd().lanes / 16;
  return pairs * size * per_element * (std::max(tile.rows(), tile.columns()) > 256 ? 2 : 1);
}

// Memory read rate, bytes per microsecond.
constexpr double kReadRate = 2e4;

}  // namespace

FftSize::FftSize(const ConvShape& s, int log) : extent_{s.span(1, 1), s.span(2, 1)} {
  rows_log_ = extent_[0] > 1 ? log : 0, columns_log_ = extent_[1] > 1 ? log : 0;
}

bool FftSize::Fits(const ConvShape& s, int log) {
  const int64_t y = s.span(1, 1), x = s.span(2, 1), side = int64_t{1} << log;
  const bool line = y == 1 || x == 1;
  return s.kernel[0] == 1 && s.stride == Spatial{1, 1, 1} && std::max(y, x) > 1 &&
         4 * (std::max(y, x) - 1) <= 3 * side && log <= (line ? kMaxLineLog : kMaxLog);
}

FftPlan::FftPlan(const ConvShape& s, int log) : FftSize(s, log) {
  // If there are several rows, the row stride is one complex number more than a row. So the numbers of a
  // column do not collide in the cache.
  row_step_ = (columns() + (rows_log_ > 0 ? 1 : 0)) * Pair();
  factors_ = Factors(std::max(rows(), columns()));
  const auto index = [&](int64_t y, int64_t x) {
    return static_cast<int32_t>(IndexOf(y, rows()) * row_step_ + IndexOf(x, columns()) * Pair());
  };
  for (int64_t y = 0; y < rows(); ++y)
    for (int64_t x = 0; x < columns(); ++x) {
      const int64_t mirror_y = (rows() - y) % rows(), mirror_x = (columns() - x) % columns();
      if (std::pair(y, x) > std::pair(mirror_y, mirror_x)) continue;
      pairs_.push_back(index(y, x));
      pairs_.push_back(index(mirror_y, mirror_x));
    }
  TERN_CHECK(static_cast<int64_t>(pairs_.size()) == 2 * frequencies(), pairs_.size() / 2, " frequencies");
}

FftTile FftPlan::Tile(float* z) const {
  return {z, rows_log_, columns_log_, row_step_, factors_.data(), pairs_.data(), frequencies()};
}

FftTiles::FftTiles(const ConvShape& s, const FftSize& size)
    : rows(CeilDiv(s.output[1], size.out_rows())), columns(CeilDiv(s.output[2], size.out_columns())) {
  count = s.batch * rows * columns;
}

namespace {

FftInput InputOf(const ConvShape& s, const FftPlan& plan, const FftTiles& tiles, int64_t tile) {
  FftInput in;
  in.height = s.input[1], in.width = s.input[2];
  in.pixel = s.channels, in.row = in.width * in.pixel;
  in.first_row = tile / tiles.columns % tiles.rows * plan.out_rows() - s.begin[1];
  in.first_column = tile % tiles.columns * plan.out_columns() - s.begin[2];
  return in;
}

// Computes the inverse transform of z, applies the epilogue and stores the result. z contains output channels
// [map, map + Pair()).
void WriteTile(const ConvShape& s, const FftPlan& plan, const FftTiles& tiles, const NhwcArgs& args,
               int64_t tile, int64_t map, float* z, const float* back, const float* kernel_back) {
  const int64_t row = tile / tiles.columns % tiles.rows * plan.out_rows(),
                column = tile % tiles.columns * plan.out_columns(),
                image = tile / (tiles.columns * tiles.rows);
  const int64_t first = (image * s.output[1] + row) * s.output[2] + column, at = first * s.maps + map;
  FftOutput out;
  out.pixel_step = args.pixel_stride_or(s.maps), out.row_step = s.output[2] * out.pixel_step;
  out.y = args.y + first * out.pixel_step + map;
  out.rows = std::min(plan.out_rows(), s.output[1] - row);
  out.columns = std::min(plan.out_columns(), s.output[2] - column);
  out.count = std::min(Pair(), s.maps - map);
  out.back = back, out.kernel_back = kernel_back;
  out.bias = args.tile.bias ? args.tile.bias + map : nullptr;
  out.residual = args.tile.residual ? args.tile.residual + at : nullptr;
  out.clip = args.tile.clip, out.low = args.tile.low, out.high = args.tile.high;
  FftSimd().output(plan.Tile(z), out);
  if (!args.epilogue || args.epilogue->empty()) return;
  for (int64_t r = 0; r < out.rows; ++r) {
    const int64_t index = at + r * out.row_step;
    args.epilogue->Apply({out.columns, out.count, index, s.maps, args.y + index, s.maps});
  }
}

int64_t SpectraSize(const ConvShape& s, const FftSize& size) {
  return size.frequencies() * s.group * PanelsSize(2 * s.group_channels(), s.group_maps());
}

}  // namespace

int64_t FftConv::PackedSize(const ConvShape& s, int log) {
  return SpectraSize(s, FftSize(s, log)) + RoundUp(s.maps, Pair());
}

// The layout of `to` is [frequency][group][panel][re of all channels, then im of all channels][column],
// followed by MapBack of each output channel.
void FftConv::Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, int log) {
  const FftPlan plan(s, log);
  const TileTable& table = TileSimd();
  const int64_t channels = s.group_channels(), maps = s.group_maps(), taps = s.taps();
  const int64_t panels = CeilDiv(maps, table.columns), panel = 2 * channels * table.columns;
  std::fill(to, to + PackedSize(s, log), 0.f);
  float* map_back = to + SpectraSize(s, plan);
  workers.ParallelFor(s.maps, 1, [&](int64_t begin, int64_t end) {
    for (int64_t map = begin; map < end; ++map)
      map_back[map] = MapBack(w + map * channels * taps, channels, taps);
  });
  workers.ParallelFor(s.group * panels * channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> z(static_cast<size_t>(plan.tile_floats()));
    const FftTile tile = plan.Tile(z.data());
    Unscale back{};
    for (int64_t job = begin; job < end; ++job) {
      const int64_t channel = job % channels, group = job / channels / panels;
      const int64_t map0 = job / channels % panels * table.columns;
      const int64_t map1 = std::min<int64_t>(map0 + table.columns, maps);
      for (int64_t map = map0; map < map1; map += Pair()) {
        FftSpectra out;
        out.count = std::min(Pair(), map1 - map);
        LoadKernel(s, tile, w + ((group * maps + map) * channels + channel) * taps, channels * taps,
                   out.count, back.of);
        for (int64_t i = 0; i < out.count; ++i) back.of[i] /= map_back[group * maps + map + i];
        out.back = back.of;
        out.re = to + job / channels * panel + channel * table.columns + (map - map0);
        out.im = out.re + channels * table.columns;
        out.step = s.group * panels * panel;
        out.im_factor = -1;  // a cross-correlation needs the conjugate spectrum
        FftSimd().separate(tile, out);
      }
    }
  });
}

double FftConv::Cost(const ConvShape& s, int log) {
  constexpr double kFlops = 1e5;  // per microsecond
  constexpr double kStart = 6;    // fixed overhead of a product, as a number of input channels
  const FftSize size(s, log);
  const auto tiles = static_cast<double>(FftTiles(s, size).count);
  const auto frequencies = static_cast<double>(size.frequencies());
  const auto maps = static_cast<double>(s.group * RoundUp(s.group_maps(), 16));
  const double filled = std::min(1.0, tiles / 6);  // few tiles do not hide the latency of multiply-adds
  const double products =
      8 * tiles * frequencies * (static_cast<double>(s.group_channels()) + kStart) * maps / filled / kFlops;
  const double weights = 8 * frequencies * static_cast<double>(s.group_channels()) * maps / kReadRate;
  const double pairs = static_cast<double>(CeilDiv(s.channels, Pair()) + CeilDiv(s.maps, Pair()));
  return std::max(products, weights) + 0.3 * std::min(products, weights) + TransformCost(size, tiles * pairs);
}

FftConv::FftConv(const ConvShape& shape, int log) : shape_(shape), plan_(shape, log), tiles_(shape, plan_) {
  v_step_ = PositionStep(3 * shape.channels), p_step_ = PositionStep(2 * shape.maps);
  v_tile_ = TileStep(v_step_, plan_.frequencies()), p_tile_ = TileStep(p_step_, plan_.frequencies());
  at_once_ = std::clamp<int64_t>(kPassFloats / (v_tile_ + p_tile_), 1, std::max<int64_t>(1, tiles_.count));
  at_once_ = CeilDiv(tiles_.count, std::max<int64_t>(1, CeilDiv(tiles_.count, at_once_)));
}

size_t FftConv::Scratch(int threads) const {
  return static_cast<size_t>(at_once_ * (v_tile_ + p_tile_) + threads * plan_.tile_floats()) * sizeof(float);
}

// Transforms one tile of channels [channel, channel + Pair()).
void FftConv::Input(const NhwcArgs& args, int64_t tile, int64_t channel, float* v, float* z) const {
  const ConvShape& s = shape_;
  FftInput in = InputOf(s, plan_, tiles_, tile);
  const int64_t image = tile / (tiles_.rows * tiles_.columns);
  in.x = args.x + image * in.height * in.row + channel;
  in.count = std::min(Pair(), s.channels - channel);
  Unscale back;
  in.back = back.of;
  FftSimd().input(plan_.Tile(z), in);
  FftSpectra to;
  to.back = back.of;
  // Normalizes here instead of after the inverse transform. This keeps spectra smaller than the numbers of
  // the image, and products smaller than the results.
  to.re_factor = to.im_factor = plan_.scale();
  to.im = v + channel, to.re = to.im + s.channels, to.minus = to.re + s.channels;
  to.step = v_step_, to.count = in.count;
  FftSimd().separate(plan_.Tile(z), to);
}

// Computes the products of one frequency. Rows of v are [im, re, -im]. The real part of the result is (re,
// -im) times the panels. The imaginary part is (im, re) times the panels.
void FftConv::Products(const NhwcArgs& args, int64_t frequency, int64_t tiles, const float* v,
                       float* p) const {
  const ConvShape& s = shape_;
  const TileTable& table = TileSimd();
  const int64_t channels = s.group_channels(), maps = s.group_maps();
  const int64_t panels = CeilDiv(maps, table.columns), panel = 2 * channels * table.columns;
  const int64_t starts[2] = {0, s.channels};
  Tile t;
  t.a_row = v_tile_, t.c_row = p_tile_;
  t.k = channels, t.segments = 2, t.starts = starts;
  t.few_rows = true;  // results stay bit-identical, because `tiles` does not depend on the number of threads
  for (int64_t i = 0; i < s.group * panels; ++i) {
    const int64_t group = i / panels, map = i % panels * table.columns;
    t.b = args.w + (frequency * s.group * panels + i) * panel;
    t.columns = std::min<int64_t>(table.columns, maps - map);
    for (int64_t part = 0; part < 2; ++part) {
      t.a = v + frequency * v_step_ + group * channels + (1 - part) * s.channels;
      t.c = p + frequency * p_step_ + group * maps + map + part * s.maps;
      table.RunRows(t, tiles);
    }
  }
}

void FftConv::Output(const NhwcArgs& args, int64_t tile, int64_t map, float* p, float* z) const {
  FftSpectra from;
  from.re = p + map, from.im = from.re + shape_.maps;
  from.step = p_step_, from.count = std::min(Pair(), shape_.maps - map);
  Unscale back;
  from.back = back.of;
  FftSimd().join(plan_.Tile(z), from);
  WriteTile(shape_, plan_, tiles_, args, tile, map, z, back.of, args.w + SpectraSize(shape_, plan_) + map);
}

void FftConv::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (tiles_.count == 0 || s.maps == 0) return;
  auto* v = static_cast<float*>(scratch);
  float *p = v + at_once_ * v_tile_, *z = p + at_once_ * p_tile_;
  const int64_t inputs = CeilDiv(s.channels, Pair()), outputs = CeilDiv(s.maps, Pair());
  for (int64_t first = 0; first < tiles_.count; first += at_once_) {
    const int64_t tiles = std::min(at_once_, tiles_.count - first);
    workers.ParallelFor(tiles * inputs, 1, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i)
        Input(args, first + i / inputs, i % inputs * Pair(), v + i / inputs * v_tile_,
              z + worker * plan_.tile_floats());
    });
    workers.ParallelFor(plan_.frequencies(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Products(args, i, tiles, v, p);
    });
    workers.ParallelFor(tiles * outputs, 1, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i)
        Output(args, first + i / outputs, i % outputs * Pair(), p + i / outputs * p_tile_,
               z + worker * plan_.tile_floats());
    });
  }
}

namespace {

// Returns the size of the packed kernels of Pair() channels, in floats. The layout is `back`, then
// [frequency][re and im of the first vector, re and im of the second vector].
int64_t PairSize(const FftSize& size) { return (1 + 2 * size.frequencies()) * Pair(); }

}  // namespace

int64_t FftDepthwise::PackedSize(const ConvShape& s, int log) {
  return CeilDiv(s.channels, Pair()) * PairSize(FftSize(s, log));
}

void FftDepthwise::Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, int log) {
  const FftPlan plan(s, log);
  const int64_t lanes = FftSimd().lanes, size = PairSize(plan);
  std::fill(to, to + PackedSize(s, log), 0.f);
  workers.ParallelFor(CeilDiv(s.channels, Pair()), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> z(static_cast<size_t>(plan.tile_floats()));
    Unscale ones;
    std::fill_n(ones.of, Pair(), 1.f);
    for (int64_t i = begin; i < end; ++i)
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t channel = i * Pair() + half * lanes;
        FftSpectra out;
        out.count = std::min(lanes, s.channels - channel);
        if (out.count <= 0) continue;
        LoadKernel(s, plan.Tile(z.data()), w + channel * s.taps(), s.taps(), out.count,
                   to + i * size + half * lanes);
        out.re = to + i * size + (1 + half) * Pair(), out.im = out.re + lanes;
        out.step = 2 * Pair(), out.back = ones.of;
        out.re_factor = plan.scale(), out.im_factor = -plan.scale();
        FftSimd().separate(plan.Tile(z.data()), out);
      }
  });
}

double FftDepthwise::Cost(const ConvShape& s, int log) {
  const FftSize size(s, log);
  const auto tiles = static_cast<double>(FftTiles(s, size).count);
  const auto pairs = static_cast<double>(CeilDiv(s.channels, Pair()));
  const double weights = 4 * static_cast<double>(PackedSize(s, log)) / kReadRate;
  return 2 * TransformCost(size, tiles * pairs) + weights;
}

FftDepthwise::FftDepthwise(const ConvShape& shape, int log)
    : shape_(shape), plan_(shape, log), tiles_(shape, plan_) {}

size_t FftDepthwise::Scratch(int threads) const {
  return static_cast<size_t>(threads * plan_.tile_floats()) * sizeof(float);
}

void FftDepthwise::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  const int64_t pairs = CeilDiv(s.channels, Pair()), size = PairSize(plan_);
  // Consecutive jobs are tiles of the same channels, so that the weights stay in the cache.
  workers.ParallelFor(tiles_.count * pairs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* z = static_cast<float*>(scratch) + worker * plan_.tile_floats();
    Unscale back;
    for (int64_t i = begin; i < end; ++i) {
      const float* w = args.w + i / tiles_.count * size;
      const int64_t tile = i % tiles_.count, channel = i / tiles_.count * Pair();
      FftInput in = InputOf(s, plan_, tiles_, tile);
      in.x = args.x + tile / (tiles_.rows * tiles_.columns) * in.height * in.row + channel;
      in.count = std::min(Pair(), s.channels - channel);
      in.back = back.of;
      FftSimd().input(plan_.Tile(z), in);
      FftSimd().multiply(plan_.Tile(z), w + Pair());
      WriteTile(s, plan_, tiles_, args, tile, channel, z, back.of, w);
    }
  });
}

}  // namespace tern::cpu
