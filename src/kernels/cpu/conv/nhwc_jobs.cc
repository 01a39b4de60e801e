#include "kernels/cpu/conv/nhwc_jobs.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

// The unit is one multiply-add. Multiply-adds of padded columns count as well.
constexpr int64_t kMinWorkPerThread = 1 << 16;

// Estimates the time of a job. The unit is the time to multiply a window of k dwords by half a panel. The
// estimate includes products, a fixed overhead per tile and panel, and copies. Copying a dword takes as long
// as multiplying a dword by half a panel.
double CostOf(const NhwcJobShape& s, int64_t rows, int64_t panels) {
  const int64_t strips = s.im2col ? 1 : rows, count = s.im2col ? rows : s.columns;
  const auto per_panel =
      static_cast<double>(strips * (2 * RoundUp(count, s.row_granule) + CeilDiv(count, s.tile_rows)));
  return static_cast<double>(panels) * (per_panel + 4) +
         static_cast<double>(s.Scratch(rows)) / static_cast<double>(s.k);
}

// Splits the work for several threads into jobs of even size. It prefers several jobs per thread, so that
// other threads can run the remaining jobs of a delayed thread.
void SplitForThreads(const NhwcJobShape& s, int64_t total, int threads, NhwcBlocking& blocking) {
  const double work = static_cast<double>(s.shape.batch * s.shape.output_size()) *
                      static_cast<double>(s.shape.group * RoundUp(s.shape.group_maps(), s.granule)) *
                      static_cast<double>(s.k) * s.dot_cost;
  const auto target =
      static_cast<int64_t>(std::min(work / kMinWorkPerThread, static_cast<double>(MaxJobs(threads))));
  if (target < 2) return;
  const int64_t fewest = blocking.blocks, panels = blocking.panels, planes = blocking.planes,
                max_jobs = std::max(threads <= 2 ? 2 * target : target, planes * fewest);
  double best = 0;
  for (int64_t panel_jobs = 1; panel_jobs <= panels && planes * fewest * panel_jobs <= max_jobs;
       ++panel_jobs) {
    const int64_t panels_per_job = CeilDiv(panels, panel_jobs);
    if (CeilDiv(panels, panels_per_job) != panel_jobs) continue;
    // This function runs before each convolution, so it skips some of many numbers of blocks.
    for (int64_t blocks = fewest; blocks <= total && planes * blocks * panel_jobs <= max_jobs;
         blocks += std::max<int64_t>(1, blocks / 16)) {
      const int64_t rows = CeilDiv(total, blocks), jobs = planes * blocks * panel_jobs;
      if (CeilDiv(total, rows) != blocks) continue;
      const double cost = JobRounds(jobs, threads) * CostOf(s, rows, panels_per_job);
      if (best > 0 && cost >= best) continue;
      best = cost;
      blocking = {rows, blocks, panels_per_job, panel_jobs, planes};
    }
  }
}

}  // namespace

int64_t NhwcJobShape::Panels() const { return shape.group * CeilDiv(shape.group_maps(), tile_columns); }

int64_t NhwcJobShape::Parts() const { return im2col ? 1 : CeilDiv(shape.output[2], columns); }

NhwcBlocking BlockingOf(const NhwcJobShape& s, int threads) {
  // The number of pixels or rows that are split into blocks.
  const int64_t total = s.im2col ? s.shape.batch * s.shape.output_size() : s.shape.output[1];
  NhwcBlocking blocking{};
  blocking.planes = s.im2col ? 1 : s.shape.batch * s.shape.output[0] * s.Parts();
  blocking.rows =
      std::clamp<int64_t>(kNhwcBlockDwords / std::max<int64_t>(1, std::max(s.read, s.written)), 1, total);
  if (s.im2col) blocking.rows = std::max<int64_t>(s.tile_rows, blocking.rows / s.tile_rows * s.tile_rows);
  blocking.panels = s.Panels(), blocking.panel_jobs = 1;
  blocking.blocks = CeilDiv(total, blocking.rows);
  if (threads > 1) SplitForThreads(s, total, threads, blocking);
  return blocking;
}

NhwcJob JobOf(const NhwcJobShape& s, const NhwcBlocking& blocking, int64_t job) {
  const ConvShape& shape = s.shape;
  NhwcJob j{};
  j.panel0 = job % blocking.panel_jobs * blocking.panels;
  j.panel1 = std::min(j.panel0 + blocking.panels, s.Panels());
  job /= blocking.panel_jobs;
  if (!s.im2col) {
    j.left = job % s.Parts() * s.columns, j.right = std::min(j.left + s.columns, shape.output[2]);
    job /= s.Parts();
  }
  j.first = job % blocking.blocks * blocking.rows;
  job /= blocking.blocks;
  j.last = std::min(j.first + blocking.rows, s.im2col ? shape.batch * shape.output_size() : shape.output[1]);
  j.image = job / shape.output[0], j.plane = job % shape.output[0];
  return j;
}

bool NeedsPadding(const ConvShape& s) {
  for (size_t i = 0; i < 3; ++i)
    if (s.begin[i] > 0 || s.span(i, s.output[i]) - s.begin[i] > s.input[i]) return true;
  return false;
}

ConvShape NonEmptyShape(const ConvShape& shape) {
  ConvShape s = shape;
  const bool is_empty = s.batch == 0 || s.maps == 0 || std::count(s.output.begin(), s.output.end(), 0) > 0;
  if (is_empty) s.batch = 0, s.output = {1, 1, 1};
  if (!is_empty && s.channels > 0) return s;
  s.input = s.output;
  s.kernel = s.stride = s.dilation = {1, 1, 1};
  s.begin = {0, 0, 0};
  return s;
}

bool LowTiles(int64_t pixels, int tile_rows, int row_granule) {
  if (row_granule > 1 && 10 * pixels < 7 * RoundUp(pixels, row_granule)) return true;
  const int64_t tiles = CeilDiv(pixels, tile_rows);
  return 10 * pixels < tiles * std::min<int64_t>(45, 8 * tile_rows);
}

int64_t JoinedGroups(const ConvShape& s, int64_t lanes) {
  int64_t joined = std::clamp<int64_t>(lanes / std::max<int64_t>(1, s.group_maps()), 1, s.group);
  while (s.group % joined != 0) --joined;
  return joined;
}

}  // namespace tern::cpu
