#include "kernels/cpu/conv/nhwc_taps.h"

#include <algorithm>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMaxTaps = 1024;
constexpr int64_t kJobs = 8;  // minimum jobs per thread, if there are enough rows

bool Covers(const Inside& range, int64_t size) { return range.first == 0 && range.last == size; }

}  // namespace

// Returns the taps that read pixels. The first one never reads padding. If there is no such tap, the list is
// empty.
std::vector<NhwcTaps::Tap> NhwcTaps::TapsOf(const ConvShape& s) {
  std::vector<Tap> taps;
  for (int64_t i = 0; i < s.taps(); ++i) {
    Tap tap;
    tap.index = i;
    tap.row = i / s.kernel[2] * s.dilation[1] - s.begin[1];
    tap.column = i % s.kernel[2] * s.dilation[2] - s.begin[2];
    tap.rows = InsideOf(tap.row, s.stride[1], s.input[1], s.output[1]);
    tap.columns = InsideOf(tap.column, s.stride[2], s.input[2], s.output[2]);
    if (tap.rows.first < tap.rows.last && tap.columns.first < tap.columns.last) taps.push_back(tap);
  }
  const auto full = std::find_if(taps.begin(), taps.end(), [&](const Tap& tap) {
    return Covers(tap.rows, s.output[1]) && Covers(tap.columns, s.output[2]);
  });
  if (full == taps.end()) return {};
  std::rotate(taps.begin(), full, full + 1);
  return taps;
}

bool NhwcTaps::Fits(const ConvShape& s) {
  return s.group == 1 && s.kernel[0] == 1 && s.input[0] == 1 && s.output[0] == 1 && s.begin[0] == 0 &&
         s.channels > 0 && s.taps() <= kMaxTaps && !TapsOf(s).empty();
}

NhwcTaps::NhwcTaps(const ConvShape& shape) : shape_(shape), taps_(TapsOf(shape)) {}

double NhwcTaps::Products() const {
  double sum = 0;
  for (const Tap& tap : taps_)
    sum += static_cast<double>(shape_.batch * (tap.rows.last - tap.rows.first)) *
           TileProducts(TileSimd(), tap.columns.last - tap.columns.first, shape_.maps, shape_.channels);
  return sum;
}

// Adds the products of one tap to y. The first tap sets y, with bias and residual.
void NhwcTaps::RunTap(const NhwcArgs& args, const Job& job, const Tap& tap, bool first) const {
  const ConvShape& s = shape_;
  const TileTable& table = TileSimd();
  const int64_t map = job.panel * table.columns, step = args.pixel_stride_or(s.maps),
                width = tap.columns.last - tap.columns.first;
  // Rows that are contiguous in x and y are multiplied together.
  const bool whole =
      Covers(tap.columns, s.output[2]) && s.input[2] == s.output[2] && s.stride[1] == 1 && s.stride[2] == 1;
  Tile t;
  t.a_row = s.stride[2] * s.channels, t.c_row = step;
  t.k = s.channels;
  t.b = args.w + (job.panel * s.taps() + tap.index) * s.channels * table.columns;
  t.columns = std::min<int64_t>(table.columns, s.maps - map);
  t.accumulate = !first;
  if (first && args.tile.bias) t.bias = args.tile.bias + map;
  t.residual_row = s.maps;
  const int64_t begin = std::max(job.first, tap.rows.first), end = std::min(job.last, tap.rows.last);
  for (int64_t row = begin; row < end; row += whole ? end - begin : 1) {
    const int64_t from = (job.image * s.input[1] + row * s.stride[1] + tap.row) * s.input[2] +
                         tap.columns.first * s.stride[2] + tap.column,
                  to = (job.image * s.output[1] + row) * s.output[2] + tap.columns.first;
    t.a = args.x + from * s.channels;
    t.c = args.y + to * step + map;
    if (first && args.tile.residual) t.residual = args.tile.residual + to * s.maps + map;
    table.RunRows(t, whole ? (end - begin) * width : width);
  }
}

// Applies the clip and the epilogue to the results of a job.
void NhwcTaps::Finish(const NhwcArgs& args, const Job& job) const {
  const ConvShape& s = shape_;
  const int64_t map = job.panel * TileSimd().columns, step = args.pixel_stride_or(s.maps),
                columns = std::min<int64_t>(TileSimd().columns, s.maps - map),
                first = (job.image * s.output[1] + job.first) * s.output[2],
                pixels = (job.last - job.first) * s.output[2];
  float* y = args.y + first * step + map;
  for (int64_t i = 0; args.tile.clip && i < pixels; ++i)
    UnarySimd().f32(UnaryKind::kClip, y + i * step, y + i * step, columns, args.tile.low, args.tile.high);
  if (args.epilogue && !args.epilogue->empty())
    args.epilogue->Apply(Epilogue::Rows{pixels, columns, first * s.maps + map, s.maps, y, step});
}

void NhwcTaps::Run(const NhwcArgs& args, void*, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.batch * s.output_size() * s.maps == 0) return;
  const int64_t panels = CeilDiv(s.maps, TileSimd().columns),
                wanted = workers.threads() == 1 ? 1 : kJobs * workers.threads(),
                bands = std::clamp<int64_t>(CeilDiv(wanted, s.batch * panels), 1, s.output[1]),
                rows = CeilDiv(s.output[1], bands);
  workers.ParallelFor(s.batch * panels * bands, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = std::min(i % bands * rows, s.output[1]);
      const Job job{i / bands / panels, i / bands % panels, first, std::min(first + rows, s.output[1])};
      if (job.first == job.last) continue;
      for (size_t t = 0; t < taps_.size(); ++t) RunTap(args, job, taps_[t], t == 0);
      Finish(args, job);
    }
  });
}

}  // namespace tern::cpu
