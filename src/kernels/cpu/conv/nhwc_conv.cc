#include "kernels/cpu/conv/nhwc_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/support/cut.h"

namespace tern::cpu {
namespace {

constexpr int64_t kBlock = 64 << 10;        // words that stay in the second cache, read or written
constexpr int64_t kWorthAThread = 1 << 17;  // multiplications
constexpr double kScattered = 4;            // see Scattered
constexpr int64_t kPieceStart = 12;         // words that are copied while the copy of a pixel starts
constexpr int64_t kPad = 16;                // words that keep rows from colliding in the first cache

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

// A shape with the same results for which sizes are those of memory that exists: nothing to compute has no
// window, and without channels every window is empty.
ConvShape Sized(const ConvShape& shape) {
  ConvShape s = shape;
  const bool nothing = s.batch == 0 || s.maps == 0 || std::count(s.output.begin(), s.output.end(), 0) > 0;
  if (nothing) s.batch = 0, s.output = {1, 1, 1};
  if (!nothing && s.channels > 0) return s;
  s.input = s.output;
  s.kernel = s.stride = s.dilation = {1, 1, 1};
  s.begin = {0, 0, 0};
  return s;
}

// Rows of so many pixels make tiles that are too low to keep the multipliers busy.
bool LowTiles(int64_t pixels) {
  const int64_t rows = TileSimd().rows, tiles = Quotient(pixels, rows);
  return 10 * pixels < tiles * std::min<int64_t>(45, 8 * rows);
}

// How many groups are computed as one: as many as fill a vector.
int64_t Joined(const ConvShape& s) {
  const int64_t lanes = TileSimd().columns / 2;
  int64_t joined = std::clamp<int64_t>(lanes / std::max<int64_t>(1, s.group_maps()), 1, s.group);
  while (s.group % joined != 0) --joined;
  return joined;
}

// Weights [M, C / group, kernel…] of groups that are joined, in that order, with zeros between groups.
void Join(const ConvShape& s, int64_t joined, const float* w, float* to) {
  const int64_t channels = s.group_channels() * s.taps(), wide = channels * joined;
  std::fill(to, to + s.maps * wide, 0.f);
  for (int64_t map = 0; map < s.maps; ++map)
    Copy(w + map * channels, channels, to + map * wide + map / s.group_maps() % joined * channels);
}

// One row of the kernel, [kernel row][C], of some maps.
void PackRow(const TileTable& table, const float* w, const ConvShape& s, int64_t maps, float* to) {
  const int64_t taps = s.taps(), size = s.kernel[2] * s.channels;
  std::vector<float> rows(static_cast<size_t>(maps * size));
  for (int64_t map = 0; map < maps; ++map)
    for (int64_t i = 0; i < size; ++i)
      rows[static_cast<size_t>(map * size + i)] =
          w[(map * s.channels + i % s.channels) * taps + i / s.channels];
  table.pack(rows.data(), 1, size, size, maps, 1.0f, to);
}

// Whether words of several elements are better filled along rows than pixel by pixel: odd numbers of
// channels, pictures above all. Windows must start where words do. The last word of a window's row may hold
// an element beside the window, which meets a weight of zero.
bool AlongRows(const ConvShape& s, const TileTable& table) {
  return s.group == 1 && s.channels % table.per_word != 0 && s.kernel[2] > 1 && s.dilation[2] == 1 &&
         s.stride[2] * s.channels % table.per_word == 0;
}

}  // namespace

int64_t NhwcConv::PackedSize(const ConvShape& s, Operands operands) {
  const TileTable& table = TileFor(operands);
  if (s.channels == 0 || s.maps == 0) return 0;
  const int64_t joined = Joined(s), maps = s.group_maps() * joined;
  if (AlongRows(s, table))
    return PanelsSize(s.kernel[0] * s.kernel[1] * table.words(s.kernel[2] * s.channels), maps);
  return s.group / joined * PanelsSize(s.taps() * table.words(s.group_channels() * joined), maps);
}

void NhwcConv::Pack(const ConvShape& shape, const float* w, float* to, const Workers& workers,
                    Operands operands) {
  if (PackedSize(shape, operands) == 0) return;
  ConvShape s = shape;
  std::vector<float> wide;
  if (const int64_t joined = Joined(s); joined > 1) {
    wide.resize(static_cast<size_t>(s.maps * s.group_channels() * s.taps() * joined));
    Join(s, joined, w, wide.data());
    w = wide.data();
    s.group /= joined;
  }
  const TileTable& table = TileFor(operands);
  const int64_t channels = s.group_channels(), maps = s.group_maps(), taps = s.taps(), k = taps * channels,
                panels = Quotient(maps, table.columns);
  const bool rows = AlongRows(s, table);
  const int64_t units = rows ? s.kernel[0] * s.kernel[1] : taps, size = k / units,
                step = table.columns * table.words(size);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, table.columns * k));
  workers.ParallelFor(s.group * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n0 = i % panels * table.columns, n = std::min<int64_t>(table.columns, maps - n0);
      const float* from = w + (i / panels * maps + n0) * k;
      float* panel = to + i * units * step;
      for (int64_t unit = 0; unit < units; ++unit, panel += step)
        if (rows)
          PackRow(table, from + unit * s.kernel[2], s, n, panel);
        else
          table.pack(from + unit, taps, k, channels, n, 1.0f, panel);
    }
  });
}

NhwcConv::NhwcConv(const ConvShape& shape, Operands operands, NhwcWindows windows)
    : shape_(Sized(shape)), operands_(operands) {
  const int64_t row = shape_.output[2] * shape_.maps;
  steps_ = {0, shape_.output_size() * shape_.maps, shape_.output[1] * row, row, shape_.maps};
  shape_.group /= Joined(shape);
  SetSource(false, windows);
}

NhwcConv::NhwcConv(const ConvShape& shape, const NhwcSteps& steps, Operands operands)
    : shape_(Sized(shape)), steps_(steps), operands_(operands) {
  shape_.group /= Joined(shape);
  SetSource(true, NhwcWindows::kInPlace);
}

// Where tiles of neighbouring pixels would be low, or reading them in place is as good as copying them.
bool NhwcConv::PrefersColumns() const {
  const ConvShape& s = shape_;
  const bool copied = HangsOver(s) || operands_ != Operands::kF32 || Collide(s.stride[2] * s.group * words_);
  return LowTiles(s.output[2]) || (s.taps() == 1 && copied) || (s.group > 1 && s.group_channels() < 16);
}

// Windows that reach far beyond what they read: rows with all that lies between take much more memory than
// the windows themselves.
bool NhwcConv::Scattered() const {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const ConvShape& s = shape_;
  const double pixel = number(s.group * words_) / (rows_ ? number(s.kernel[2]) : 1),
               row = number(s.kernel[0]) * number(Span(s, 2, columns_)) * pixel,
               windows = number(columns_) * number(s.group * k());
  const double read = number(s.stride[1] * s.kernel[0]) * number(columns_ * s.stride[2]) * pixel,
               written = number(columns_ * s.maps);
  const double rows = std::clamp(number(kBlock) / std::max(1.0, std::max(read, written)), 1.0,
                                 std::max(1.0, number(s.output[1])));
  const double lines = (rows - 1) * number(s.stride[1]) + number((s.kernel[1] - 1) * s.dilation[1] + 1);
  return lines * row > kScattered * rows * windows;
}

void NhwcConv::SetColumns() {
  source_ = Source::kColumns;
  piece_ = k();
  row_ = pixel_ = k() + (Collide(k()) ? kPad : 0);
  starts_ = {0};
}

// Depends on the shape only, and with it how sums are taken.
void NhwcConv::SetSource(bool spread, NhwcWindows windows) {
  const ConvShape& s = shape_;
  rows_ = !spread && AlongRows(s, table());
  units_ = rows_ ? s.kernel[0] * s.kernel[1] : s.taps();
  words_ = table().words(s.group_channels() * (rows_ ? s.kernel[2] : 1));
  const bool over = HangsOver(s), rounded = operands_ != Operands::kF32;
  const int64_t words = s.group * words_;
  const int64_t step = rows_ ? s.stride[2] * s.channels / table().per_word : s.stride[2] * words;
  const int64_t rows = table().rows, most = kBlock / std::max<int64_t>(1, std::max(step, s.maps));
  columns_ = s.output[2] <= most ? s.output[2] : std::max<int64_t>(rows, most / rows * rows);
  if (!spread && s.taps() == 1 && !over && s.stride == Spatial{1, 1, 1} && s.input == s.output) {
    source_ = Source::kImage;
  } else if (windows == NhwcWindows::kColumns ||
             (!spread && (over || rounded || Collide(step)) && Scattered())) {
    SetColumns();
  } else if (rows_) {
    source_ = Source::kPadded;
    const int64_t row = table().words(Span(s, 2, columns_) * s.channels);
    SetStarts(row, s.kernel[0] * row, 0);
  } else if (windows == NhwcWindows::kAny && PrefersColumns()) {
    SetColumns();
  } else if (!over && !rounded && !Collide(step)) {
    source_ = Source::kWindows;
    const int64_t row = s.input[2] * s.channels;
    SetStarts(s.dilation[0] * s.input[1] * row, row, s.channels);
  } else {
    source_ = Source::kPadded;
    const int64_t pixel = words + (Collide(step) ? kPad : 0);
    const int64_t row = Span(s, 2, columns_) * pixel;
    SetStarts(row, s.kernel[0] * row, pixel);
  }
  step_ = source_ == Source::kColumns ? pixel_ : rows_ ? step : s.stride[2] * pixel_;
}

void NhwcConv::SetStarts(int64_t plane, int64_t row, int64_t pixel) {
  const ConvShape& s = shape_;
  plane_ = plane, row_ = row, pixel_ = pixel;
  const bool together = rows_ || (s.dilation[2] == 1 && pixel == words_);
  piece_ = words_ * (together && !rows_ ? s.kernel[2] : 1);
  starts_.clear();
  for (int64_t z = 0; z < s.kernel[0]; ++z)
    for (int64_t line = 0; line < s.kernel[1]; ++line)
      for (int64_t i = 0; i < (together ? 1 : s.kernel[2]); ++i)
        starts_.push_back(z * plane + line * s.dilation[1] * row + i * s.dilation[2] * pixel);
}

// Scratch memory of a job.
int64_t NhwcConv::BlockWords(int64_t rows) const {
  if (source_ == Source::kColumns) return rows * pixel_ + (rows_ ? shape_.kernel[2] * shape_.channels : 0);
  if (source_ == Source::kPadded)
    return Span(shape_, 1, rows) * row_ + (rows_ ? Span(shape_, 2, columns_) * shape_.channels : 0);
  return 0;
}

NhwcConv::Cut NhwcConv::CutOf(int threads) const {
  const TileTable& table = this->table();
  const ConvShape& s = shape_;
  const bool pixels = source_ == Source::kColumns;
  const int64_t all = pixels ? s.batch * s.output_size() : s.output[1];  // what blocks are parts of
  const int64_t width = pixels ? 1 : columns_, parts = pixels ? 1 : Quotient(s.output[2], columns_);
  const int64_t read = pixels ? pixel_ : s.stride[1] * s.kernel[0] * width * step_;  // per row
  Cut cut{};
  cut.rows = std::clamp<int64_t>(kBlock / std::max<int64_t>(1, std::max(read, width * s.maps)), 1, all);
  if (pixels) cut.rows = std::max<int64_t>(table.rows, cut.rows / table.rows * table.rows);
  const int64_t panels = s.group * Quotient(s.group_maps(), table.columns);
  cut.panels = panels, cut.panel_jobs = 1;
  cut.blocks = Quotient(all, cut.rows);
  const int64_t planes = pixels ? 1 : s.batch * s.output[0] * parts;
  if (threads > 1) {
    const double work = static_cast<double>(s.batch * s.output_size() * s.maps) * static_cast<double>(k());
    const auto wanted = static_cast<int64_t>(std::min(work / kWorthAThread, threads * 4.0));
    if (!pixels && planes * cut.blocks < wanted && width * all >= s.maps) {
      // Rows do not change how sums are taken, so that they may depend on the number of threads.
      cut.rows = Quotient(all, std::min(all, Quotient(wanted, planes)));
      cut.blocks = Quotient(all, cut.rows);
    }
    const int64_t jobs = Quotient(wanted, std::max<int64_t>(1, planes * cut.blocks));
    cut.panels = Quotient(panels, std::clamp<int64_t>(jobs, 1, panels));
    cut.panel_jobs = Quotient(panels, cut.panels);
  }
  return cut;
}

NhwcConv::Job NhwcConv::JobOf(const Cut& cut, int64_t job) const {
  const ConvShape& s = shape_;
  Job j{};
  j.panel0 = job % cut.panel_jobs * cut.panels;
  j.panel1 = std::min(j.panel0 + cut.panels, s.group * Quotient(s.group_maps(), table().columns));
  job /= cut.panel_jobs;
  const int64_t parts = Quotient(s.output[2], columns_);
  if (source_ != Source::kColumns) {
    j.left = job % parts * columns_, j.right = std::min(j.left + columns_, s.output[2]);
    job /= parts;
  }
  j.first = job % cut.blocks * cut.rows;
  job /= cut.blocks;
  const bool pixels = source_ == Source::kColumns;
  j.last = std::min(j.first + cut.rows, pixels ? s.batch * s.output_size() : s.output[1]);
  j.image = job / s.output[0], j.plane = job % s.output[0];
  return j;
}

// The first map of one of all groups' panels.
int64_t NhwcConv::MapOf(int64_t panel) const {
  const int64_t width = table().columns, panels = Quotient(shape_.group_maps(), width);
  return panel / panels * shape_.group_maps() + panel % panels * width;
}

PanelProduct NhwcConv::Pointwise(int64_t group, const NhwcArgs& args) const {
  const ConvShape& s = shape_;
  const int64_t n0 = group * s.group_maps();
  PanelProduct p;
  p.operands = operands_;
  p.m = s.batch * s.output_size(), p.n = s.group_maps(), p.k = s.group_channels();
  p.a = args.x + group * p.k, p.a_row = s.channels;
  p.panels = args.w + group * PanelsSize(p.k, p.n, operands_);
  p.c = args.y + n0, p.c_row = s.maps, p.c_at = n0;
  p.tile = args.tile, p.epilogue = args.epilogue;
  if (p.tile.bias) p.tile.bias += n0;
  if (p.tile.residual) p.tile.residual += n0;
  return p;
}

// Pixels that lie side by side, each group's channels in whole words.
void NhwcConv::CopyPixels(const float* from, int64_t count, float* to) const {
  const ConvShape& s = shape_;
  const TileTable& table = this->table();
  const int64_t channels = s.group_channels();
  const bool whole = channels == words_ * table.per_word;  // words do not mix groups
  if (whole && pixel_ == s.group * words_) return table.copy(from, count * s.channels, to);
  for (int64_t i = 0; i < count; ++i, from += s.channels, to += pixel_) {
    if (whole)
      table.copy(from, s.channels, to);
    else
      for (int64_t g = 0; g < s.group; ++g) table.copy(from + g * channels, channels, to + g * words_);
  }
}

// The rows that the job's windows touch, with zeros around the image: [rows][kernel planes][pixels].
void NhwcConv::CopyPadded(const float* x, const Job& job, float* to) const {
  const ConvShape& s = shape_;
  const int64_t width = Span(s, 2, job.right - job.left), rows = Span(s, 1, job.last - job.first);
  const int64_t begin = s.begin[2] - job.left * s.stride[2];  // pixels in front of the image
  const int64_t left = std::clamp<int64_t>(begin, 0, width),
                right = std::clamp<int64_t>(s.input[2] + begin, left, width);
  float* exact = to + rows * row_;  // a row before it becomes words
  const int64_t size = rows_ ? table().words(width * s.channels) : width * pixel_;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t z = 0; z < s.kernel[0]; ++z, to += plane_) {
      const int64_t plane = job.plane * s.stride[0] + z * s.dilation[0] - s.begin[0],
                    line = job.first * s.stride[1] + i - s.begin[1];
      if (plane < 0 || plane >= s.input[0] || line < 0 || line >= s.input[1]) {
        std::fill(to, to + size, 0.f);
        continue;
      }
      const float* row =
          x +
          (((job.image * s.input[0] + plane) * s.input[1] + line) * s.input[2] + left - begin) * s.channels;
      if (rows_) {
        std::fill(exact, exact + left * s.channels, 0.f);
        Copy(row, (right - left) * s.channels, exact + left * s.channels);
        std::fill(exact + right * s.channels, exact + width * s.channels, 0.f);
        table().copy(exact, width * s.channels, to);
        continue;
      }
      std::fill(to, to + left * pixel_, 0.f);
      CopyPixels(row, right - left, to + left * pixel_);
      std::fill(to + right * pixel_, to + width * pixel_, 0.f);
    }
}

// One row of a window, from pixel `left` of the image's row on; null: a row outside. `exact`: room for it.
void NhwcConv::CopyWindowRow(const float* row, int64_t left, float* exact, float* to) const {
  const ConvShape& s = shape_;
  const int64_t channels = s.group_channels();
  if (!row) {
    std::fill(to, to + (rows_ ? 1 : s.kernel[2]) * words_, 0.f);
    return;
  }
  float* here = rows_ ? exact : to;
  for (int64_t i = 0; i < s.kernel[2]; ++i, here += rows_ ? channels : words_) {
    const int64_t at = left + i * s.dilation[2];
    if (at < 0 || at >= s.input[2])
      std::fill(here, here + (rows_ ? channels : words_), 0.f);
    else if (rows_)
      Copy(row + at * s.channels, channels, here);
    else
      table().copy(row + at * s.channels, channels, here);
  }
  if (rows_) table().copy(exact, s.kernel[2] * channels, to);
}

// The windows of one group, one after the other.
void NhwcConv::CopyColumns(const float* x, const Job& job, int64_t group, float* to) const {
  const ConvShape& s = shape_;
  float* exact = to + (job.last - job.first) * pixel_;
  for (int64_t pixel = job.first; pixel < job.last; ++pixel, to += pixel_) {
    float* here = to;
    const int64_t i = pixel % s.output[2], line = pixel / s.output[2] % s.output[1],
                  z = pixel / (s.output[2] * s.output[1]) % s.output[0], image = pixel / s.output_size();
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky, here += (rows_ ? 1 : s.kernel[2]) * words_) {
        const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      iy = line * s.stride[1] + ky * s.dilation[1] - s.begin[1];
        const bool inside = iz >= 0 && iz < s.input[0] && iy >= 0 && iy < s.input[1];
        const int64_t row = inside ? ((image * s.input[0] + iz) * s.input[1] + iy) * s.input[2] : 0;
        CopyWindowRow(inside ? x + row * s.channels + group * s.group_channels() : nullptr,
                      i * s.stride[2] - s.begin[2], exact, here);
      }
  }
}

// Where the first window of a job starts; copies what has to be copied for all groups.
const float* NhwcConv::FirstWindow(const NhwcArgs& args, const Job& job, float* scratch) const {
  const ConvShape& s = shape_;
  if (source_ == Source::kPadded) CopyPadded(args.x, job, scratch);
  if (source_ != Source::kWindows) return scratch;
  const int64_t plane = job.image * s.input[0] + job.plane * s.stride[0] - s.begin[0],
                line = plane * s.input[1] + job.first * s.stride[1] - s.begin[1];
  return args.x + (line * s.input[2] + job.left * s.stride[2] - s.begin[2]) * s.channels;
}

void NhwcConv::RunJob(const NhwcArgs& args, const Job& job, float* scratch) const {
  const ConvShape& s = shape_;
  const TileTable& table = this->table();
  const TileEpilogue& e = args.tile;
  const bool pixels = source_ == Source::kColumns;
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : job.right - job.left;
  const int64_t at = pixels ? job.first * s.maps
                            : steps_.first + job.image * steps_.image + job.plane * steps_.plane +
                                  job.first * steps_.row + job.left * steps_.pixel;
  const float* a = FirstWindow(args, job, scratch);
  Tile t;
  t.a_row = step_;
  t.k = piece_, t.parts = static_cast<int64_t>(starts_.size()), t.starts = starts_.data();
  t.c_row = t.residual_row = steps_.pixel;
  t.clip = e.clip, t.low = e.low, t.high = e.high;
  for (int64_t panel = job.panel0, last = -1; panel < job.panel1; ++panel) {
    const int64_t map = MapOf(panel), group = map / s.group_maps();
    if (pixels && group != last) CopyColumns(args.x, job, group, scratch);
    last = group;
    t.columns = std::min<int64_t>(table.columns, (group + 1) * s.group_maps() - map);
    t.b = args.w + panel * table.columns * k();
    t.bias = e.bias ? e.bias + map : nullptr;
    for (int64_t i = 0; i < strips; ++i) {
      t.a = a + i * s.stride[1] * row_ + (pixels ? 0 : group * words_);
      t.c = args.y + at + i * steps_.row + map;
      if (e.residual) t.residual = e.residual + at + i * steps_.row + map;
      table.RunRows(t, count);
    }
  }
  if (args.epilogue) Finish(args, job, at);
}

// The epilogue of what a job wrote from element `at` of y on.
void NhwcConv::Finish(const NhwcArgs& args, const Job& job, int64_t at) const {
  const bool pixels = source_ == Source::kColumns;
  const int64_t map = MapOf(job.panel0), width = MapOf(job.panel1) - map;
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : job.right - job.left;
  for (int64_t i = 0; i < strips; ++i) {
    const int64_t from = at + i * steps_.row + map;
    args.epilogue->Apply(width == steps_.pixel
                             ? Epilogue::Rows{1, count * width, from, 0, args.y + from, 0}
                             : Epilogue::Rows{count, width, from, steps_.pixel, args.y + from, steps_.pixel});
  }
}

bool NhwcConv::Nothing() const { return shape_.batch * shape_.output_size() == 0 || shape_.maps == 0; }

NhwcCounts NhwcConv::Counts() const {
  const ConvShape& s = shape_;
  if (Nothing()) return {};
  const bool strips = source_ == Source::kWindows || source_ == Source::kPadded;
  const int64_t pixels = s.batch * s.output_size(), width = strips ? std::min(columns_, s.output[2]) : pixels;
  NhwcCounts counts;
  const auto groups = static_cast<double>(s.group), all = static_cast<double>(pixels),
             lines = all / static_cast<double>(width);
  counts.products = groups * lines * TileProducts(table(), width, s.group_maps(), k());
  if (source_ == Source::kColumns)
    counts.copied = groups * all * static_cast<double>(k() + kPieceStart * s.taps());
  if (source_ == Source::kPadded) {
    const Cut cut = CutOf(1);
    const auto blocks = static_cast<double>(cut.blocks) * lines / static_cast<double>(s.output[1]);
    counts.copied = blocks * static_cast<double>(BlockWords(cut.rows));
  }
  return counts;
}

size_t NhwcConv::Scratch(int threads) const {
  if (Nothing()) return 0;
  if (source_ == Source::kImage) return PanelScratch(Pointwise(0, {}), threads);
  return static_cast<size_t>(BlockWords(CutOf(threads).rows)) * sizeof(float) * static_cast<size_t>(threads);
}

void NhwcConv::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (Nothing()) return;
  if (source_ == Source::kImage) {
    for (int64_t g = 0; g < s.group; ++g) MultiplyPanels(Pointwise(g, args), scratch, workers);
    return;
  }
  const Cut cut = CutOf(workers.threads());
  const int64_t planes =
      source_ == Source::kColumns ? 1 : s.batch * s.output[0] * Quotient(s.output[2], columns_);
  const int64_t words = BlockWords(cut.rows);
  workers.ParallelFor(planes * cut.blocks * cut.panel_jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t job = begin; job < end; ++job)
      RunJob(args, JobOf(cut, job), static_cast<float*>(scratch) + worker * words);
  });
}

}  // namespace tern::cpu
