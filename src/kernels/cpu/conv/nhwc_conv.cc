#include "kernels/cpu/conv/nhwc_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {
namespace {

constexpr int64_t kBlock = 64 << 10;        // floats that stay in the second cache, read or written
constexpr int64_t kWorthAThread = 1 << 18;  // multiplications
constexpr int64_t kShortRow = 6;            // pixels: fewer make too low tiles
constexpr int64_t kPad = 16;                // floats that keep rows from colliding in the first cache

int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }
bool Collide(int64_t row) { return row * 4 % 2048 == 0; }
void Copy(const float* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

// Elements that windows span along an axis.
int64_t Span(const ConvShape& s, size_t axis, int64_t windows) {
  return (windows - 1) * s.stride[axis] + (s.kernel[axis] - 1) * s.dilation[axis] + 1;
}

bool HangsOver(const ConvShape& s) {
  for (size_t i = 0; i < 3; ++i)
    if (s.begin[i] > 0 || Span(s, i, s.output[i]) - s.begin[i] > s.input[i]) return true;
  return false;
}

// Some rows times panels [panel0, panel1): all that RunRows needs but the place.
struct RowsOf {
  const TileTable* table;
  const float* panels;  // of the group
  int64_t k, maps;
  int64_t panel0, panel1;
};

// One strip of pixels that lie at equal distances in what is read and side by side in y.
void RunStrip(const RowsOf& r, Tile t, int64_t panel, int64_t count, const TileEpilogue& e) {
  const int64_t n0 = panel * r.table->columns;
  t.columns = std::min<int64_t>(r.table->columns, r.maps - n0);
  t.b = r.panels + n0 * r.k;
  t.bias = e.bias ? e.bias + n0 : nullptr;
  t.c += n0;
  if (t.residual) t.residual += n0;
  const int64_t tiles = Quotient(count, r.table->rows), height = count / tiles, taller = count % tiles;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t rows = height + (i < taller);
    r.table->run[rows](t);
    t.a += rows * t.a_row;
    t.c += rows * t.c_row;
    if (t.residual) t.residual += rows * t.residual_row;
  }
}

}  // namespace

int64_t NhwcConv::PackedSize(const ConvShape& s) {
  return s.group * PanelsSize(s.taps() * s.group_channels(), s.group_maps());
}

void NhwcConv::Pack(const ConvShape& s, const float* w, float* to, const Workers& workers) {
  const TileTable& table = TileSimd();
  const int64_t channels = s.group_channels(), maps = s.group_maps(), taps = s.taps(), k = taps * channels,
                panels = Quotient(maps, table.columns);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, table.columns * k));
  workers.ParallelFor(s.group * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n0 = i % panels * table.columns, n = std::min<int64_t>(table.columns, maps - n0);
      const float* from = w + (i / panels * maps + n0) * k;
      float* panel = to + i * table.columns * k;
      for (int64_t tap = 0; tap < taps; ++tap)
        table.pack(from + tap, taps, k, channels, n, 1.0f, panel + tap * channels * table.columns);
    }
  });
}

NhwcConv::NhwcConv(const ConvShape& shape) : shape_(shape) { SetSource(); }

void NhwcConv::SetSource() {
  const ConvShape& s = shape_;
  const bool over = HangsOver(s), one = s.taps() == 1;
  const int64_t step = s.stride[2] * s.channels;
  if (one && !over && s.stride == Spatial{1, 1, 1} && s.input == s.output) {
    source_ = Source::kImage;
  } else if (s.output[2] < kShortRow || (one && (over || Collide(step))) ||
             (s.group > 1 && s.group_channels() < 16)) {
    source_ = Source::kColumns;
    piece_ = k();
    row_ = pixel_ = k() + (Collide(k()) ? kPad : 0);
    starts_ = {0};
  } else if (!over && !Collide(step)) {
    source_ = Source::kWindows;
    const int64_t row = s.input[2] * s.channels;
    SetStarts(s.dilation[0] * s.input[1] * row, row, s.channels);
  } else {
    source_ = Source::kPadded;
    const int64_t pixel = s.channels + (Collide(step) ? kPad : 0);
    const int64_t row = Span(s, 2, s.output[2]) * pixel;
    SetStarts(row, s.kernel[0] * row, pixel);
  }
}

void NhwcConv::SetStarts(int64_t plane, int64_t row, int64_t pixel) {
  const ConvShape& s = shape_;
  plane_ = plane, row_ = row, pixel_ = pixel;
  const bool together = s.dilation[2] == 1 && pixel == s.group_channels();
  piece_ = s.group_channels() * (together ? s.kernel[2] : 1);
  starts_.clear();
  for (int64_t z = 0; z < s.kernel[0]; ++z)
    for (int64_t line = 0; line < s.kernel[1]; ++line)
      for (int64_t i = 0; i < (together ? 1 : s.kernel[2]); ++i)
        starts_.push_back(z * plane + line * s.dilation[1] * row + i * s.dilation[2] * pixel);
}

// Scratch memory of a job.
int64_t NhwcConv::BlockFloats(int64_t rows) const {
  if (source_ == Source::kColumns) return rows * pixel_;
  if (source_ == Source::kPadded) return Span(shape_, 1, rows) * row_;
  return 0;
}

NhwcConv::Cut NhwcConv::CutOf(int threads) const {
  const TileTable& table = TileSimd();
  const ConvShape& s = shape_;
  const bool pixels = source_ == Source::kColumns;
  const int64_t all = pixels ? s.batch * s.output_size() : s.output[1];  // what blocks are parts of
  const int64_t width = pixels ? 1 : s.output[2];
  const int64_t read = pixels ? pixel_ : s.stride[1] * row_;  // floats, per row
  Cut cut{};
  cut.rows = std::clamp<int64_t>(kBlock / std::max<int64_t>(1, std::max(read, width * s.maps)), 1, all);
  if (pixels) cut.rows = std::max<int64_t>(table.rows, cut.rows / table.rows * table.rows);
  const int64_t panels = Quotient(s.group_maps(), table.columns);
  cut.panels = panels, cut.panel_groups = 1;
  cut.blocks = Quotient(all, cut.rows);
  const int64_t planes = pixels ? 1 : s.batch * s.output[0];
  if (threads > 1) {
    const double work = static_cast<double>(s.batch * s.output_size() * s.maps) * static_cast<double>(k());
    const auto wanted = static_cast<int64_t>(std::min(work / kWorthAThread, threads * 4.0));
    if (!pixels && planes * s.group * cut.blocks < wanted && width * all >= s.group_maps()) {
      // Rows do not change how sums are taken, so that they may depend on the number of threads.
      cut.rows = Quotient(all, std::min(all, Quotient(wanted, planes * s.group)));
      cut.blocks = Quotient(all, cut.rows);
    }
    const int64_t groups = Quotient(wanted, std::max<int64_t>(1, planes * s.group * cut.blocks));
    cut.panels = Quotient(panels, std::clamp<int64_t>(groups, 1, panels));
    cut.panel_groups = Quotient(panels, cut.panels);
  }
  return cut;
}

NhwcConv::Job NhwcConv::JobOf(const Cut& cut, int64_t job) const {
  Job j{};
  const int64_t panels = Quotient(shape_.group_maps(), TileSimd().columns);
  j.panel0 = job % cut.panel_groups * cut.panels;
  j.panel1 = std::min(j.panel0 + cut.panels, panels);
  job /= cut.panel_groups;
  j.group = job % shape_.group;
  job /= shape_.group;
  j.first = job % cut.blocks * cut.rows;
  job /= cut.blocks;
  const bool pixels = source_ == Source::kColumns;
  j.last = std::min(j.first + cut.rows, pixels ? shape_.batch * shape_.output_size() : shape_.output[1]);
  j.image = job / shape_.output[0], j.plane = job % shape_.output[0];
  return j;
}

PanelProduct NhwcConv::Pointwise(int64_t group, const NhwcArgs& args) const {
  const ConvShape& s = shape_;
  const int64_t n0 = group * s.group_maps();
  PanelProduct p;
  p.m = s.batch * s.output_size(), p.n = s.group_maps(), p.k = s.group_channels();
  p.a = args.x + group * p.k, p.a_row = s.channels;
  p.panels = args.w + group * PanelsSize(p.k, p.n);
  p.c = args.y + n0, p.c_row = s.maps, p.c_at = n0;
  p.tile = args.tile, p.epilogue = args.epilogue;
  if (p.tile.bias) p.tile.bias += n0;
  if (p.tile.residual) p.tile.residual += n0;
  return p;
}

// The rows that the job's windows touch, with zeros around the image: [rows][kernel planes][pixels].
void NhwcConv::CopyPadded(const float* x, const Job& job, float* to) const {
  const ConvShape& s = shape_;
  const int64_t width = Span(s, 2, s.output[2]), rows = Span(s, 1, job.last - job.first);
  const int64_t left = std::clamp<int64_t>(s.begin[2], 0, width),
                right = std::clamp<int64_t>(s.input[2] + s.begin[2], left, width);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t z = 0; z < s.kernel[0]; ++z, to += plane_) {
      const int64_t plane = job.plane * s.stride[0] + z * s.dilation[0] - s.begin[0],
                    line = job.first * s.stride[1] + i - s.begin[1];
      if (plane < 0 || plane >= s.input[0] || line < 0 || line >= s.input[1]) {
        std::fill(to, to + plane_, 0.f);
        continue;
      }
      const float* row =
          x + (((job.image * s.input[0] + plane) * s.input[1] + line) * s.input[2] + left - s.begin[2]) *
                  s.channels;
      std::fill(to, to + left * pixel_, 0.f);
      if (pixel_ == s.channels)
        Copy(row, (right - left) * pixel_, to + left * pixel_);
      else
        for (int64_t j = left; j < right; ++j)
          Copy(row + (j - left) * s.channels, s.channels, to + j * pixel_);
      std::fill(to + right * pixel_, to + plane_, 0.f);
    }
}

void NhwcConv::CopyColumns(const float* x, const Job& job, float* to) const {
  const ConvShape& s = shape_;
  const int64_t channels = s.group_channels();
  for (int64_t pixel = job.first; pixel < job.last; ++pixel, to += pixel_) {
    float* here = to;
    const int64_t i = pixel % s.output[2], line = pixel / s.output[2] % s.output[1],
                  z = pixel / (s.output[2] * s.output[1]) % s.output[0], image = pixel / s.output_size();
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      iy = line * s.stride[1] + ky * s.dilation[1] - s.begin[1],
                      ix = i * s.stride[2] - s.begin[2];
        if (iz < 0 || iz >= s.input[0] || iy < 0 || iy >= s.input[1]) {
          std::fill(here, here + s.kernel[2] * channels, 0.f);
          here += s.kernel[2] * channels;
          continue;
        }
        const float* row = x + ((image * s.input[0] + iz) * s.input[1] + iy) * s.input[2] * s.channels +
                           job.group * channels;
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx, here += channels) {
          const int64_t at = ix + kx * s.dilation[2];
          if (at < 0 || at >= s.input[2])
            std::fill(here, here + channels, 0.f);
          else
            Copy(row + at * s.channels, channels, here);
        }
      }
  }
}

void NhwcConv::RunJob(const NhwcArgs& args, const Job& job, float* scratch) const {
  const ConvShape& s = shape_;
  const bool pixels = source_ == Source::kColumns;
  const float* a = scratch;  // of the job's first strip
  if (pixels) {
    CopyColumns(args.x, job, scratch);
  } else if (source_ == Source::kPadded) {
    CopyPadded(args.x, job, scratch);
    a += job.group * s.group_channels();
  } else {
    a = args.x +
        (((job.image * s.input[0] + job.plane * s.stride[0] - s.begin[0]) * s.input[1] +
          job.first * s.stride[1] - s.begin[1]) *
             s.input[2] -
         s.begin[2]) *
            s.channels +
        job.group * s.group_channels();
  }
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : s.output[2];
  const int64_t first =
      pixels ? job.first : ((job.image * s.output[0] + job.plane) * s.output[1] + job.first) * s.output[2];
  const int64_t map0 = job.group * s.group_maps(), y0 = first * s.maps + map0;
  const RowsOf rows{&TileSimd(), args.w + job.group * PanelsSize(k(), s.group_maps()),
                    k(),         s.group_maps(),
                    job.panel0,  job.panel1};
  TileEpilogue e = args.tile;
  if (e.bias) e.bias += map0;
  Tile t;
  t.a_row = pixels ? pixel_ : s.stride[2] * pixel_;
  t.k = piece_, t.parts = static_cast<int64_t>(starts_.size()), t.starts = starts_.data();
  t.c_row = s.maps, t.residual_row = e.residual_row;
  t.clip = e.clip, t.low = e.low, t.high = e.high;
  for (int64_t panel = job.panel0; panel < job.panel1; ++panel)
    for (int64_t i = 0; i < strips; ++i) {
      t.a = a + i * s.stride[1] * row_;
      t.c = args.y + y0 + i * count * s.maps;
      if (e.residual) t.residual = e.residual + (first + i * count) * e.residual_row + map0;
      RunStrip(rows, t, panel, count, e);
    }
  if (!args.epilogue || args.epilogue->empty()) return;
  const int64_t width = TileSimd().columns, n0 = job.panel0 * width,
                n = std::min(job.panel1 * width, s.group_maps()) - n0, at = y0 + n0;
  args.epilogue->Apply(n == s.maps ? Epilogue::Rows{1, strips * count * n, at, 0, args.y + at, 0}
                                   : Epilogue::Rows{strips * count, n, at, s.maps, args.y + at, s.maps});
}

size_t NhwcConv::Scratch(int threads) const {
  if (source_ == Source::kImage) return PanelScratch(Pointwise(0, {}), threads);
  return static_cast<size_t>(BlockFloats(CutOf(threads).rows)) * sizeof(float) * static_cast<size_t>(threads);
}

void NhwcConv::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.batch * s.output_size() == 0 || s.maps == 0) return;
  if (source_ == Source::kImage) {
    for (int64_t g = 0; g < s.group; ++g) MultiplyPanels(Pointwise(g, args), scratch, workers);
    return;
  }
  const Cut cut = CutOf(workers.threads());
  const int64_t planes = source_ == Source::kColumns ? 1 : s.batch * s.output[0];
  const int64_t floats = BlockFloats(cut.rows);
  workers.ParallelFor(planes * cut.blocks * s.group * cut.panel_groups, 1,
                      [&](int64_t begin, int64_t end, int worker) {
                        for (int64_t job = begin; job < end; ++job)
                          RunJob(args, JobOf(cut, job), static_cast<float*>(scratch) + worker * floats);
                      });
}

}  // namespace tern::cpu
