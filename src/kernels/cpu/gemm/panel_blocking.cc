#include "kernels/cpu/gemm/panel_blocking.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

// Maximum dwords of a per job. They share the L2 cache with a panel of b and rows of c.
constexpr int64_t kBlockDwords = 80 << 10;
// The unit is one multiply-add. Multiply-adds of padded columns count as well.
constexpr int64_t kMinWorkPerThread = 1 << 16;
constexpr int64_t kFewRowsJobBytes = 64 << 10;  // bytes of b that a job with few rows reads

// Estimates the time of a job. The unit is the time to multiply one row of a by half a panel. Each tile,
// panel and row adds a fixed overhead. A copied row adds a larger overhead.
double CostOf(const PanelShape& p, int64_t rows, int64_t panels) {
  const auto row_count = static_cast<double>(RoundUp(rows, p.row_granule)),
             panel_count = static_cast<double>(panels);
  return panel_count * (2 * row_count + static_cast<double>(CeilDiv(rows, p.tile_rows)) + 4) +
         (p.copy ? 0.25 : 0.1) * row_count;
}

// Splits the product for several threads into jobs of even size. It prefers several jobs per thread, so that
// other threads can run the remaining jobs of a delayed thread. It prefers splits by rows, because a thread
// then finds its rows of c in its cache when it reads c next.
void SplitForThreads(const PanelShape& p, int threads, PanelBlocking& blocking) {
  constexpr double kSharedRows = 1.04, kFewJobs = 1.04;
  // Products of up to kFewRows rows are limited by memory bandwidth, so their time does not depend on p.m.
  const double work = static_cast<double>(std::max(p.m, kFewRows)) *
                      static_cast<double>(RoundUp(p.n, p.granule)) * static_cast<double>(p.k) * p.dot_cost;
  const auto target = static_cast<int64_t>(std::min(work / kMinWorkPerThread, threads * 4.0));
  if (target < 2) return;
  if (p.m <= kFewRows) {
    // Memory bandwidth limits the speed. With small jobs, all threads end at about the same time.
    const int64_t panel_bytes = std::max<int64_t>(1, p.dwords) * p.tile_columns * 4;
    blocking.panels =
        std::clamp<int64_t>(kFewRowsJobBytes / panel_bytes, 1, CeilDiv(blocking.panels, threads));
    return;
  }
  const int64_t panels = blocking.panels, fewest = CeilDiv(p.m, blocking.rows);
  double best = 0;
  for (int64_t group = panels + 1; group > 1;) {
    const int64_t panel_jobs = CeilDiv(panels, group - 1);
    group = CeilDiv(panels, panel_jobs);
    if (panel_jobs > target && best > 0) break;
    for (int64_t round = 1; round <= 4; ++round) {
      const int64_t max_row_jobs = std::max(fewest, CeilDiv(p.m, p.tile_rows)),
                    rows =
                        CeilDiv(p.m, std::clamp(CeilDiv(threads * round, panel_jobs), fewest, max_row_jobs));
      const int64_t row_jobs = CeilDiv(p.m, rows), jobs = row_jobs * panel_jobs;
      if (jobs > std::max(target, fewest) && best > 0) break;
      const double cost = static_cast<double>(CeilDiv(jobs, threads)) * CostOf(p, rows, group) *
                          (row_jobs < threads ? kSharedRows : 1) * (jobs < 2 * threads ? kFewJobs : 1);
      if (best > 0 && cost >= best) continue;
      best = cost;
      blocking.rows = rows, blocking.panels = group;
    }
  }
}

}  // namespace

PanelBlocking BlockingOf(const PanelShape& p, int threads) {
  PanelBlocking blocking{};
  blocking.depth = EvenPartSize(p.dwords, p.max_depth, 8);
  const int64_t panels = CeilDiv(p.n, p.tile_columns);
  int64_t max_rows = std::max<int64_t>(p.tile_rows, kBlockDwords / blocking.depth);
  // A small b stays in the L1 cache, so all columns of a few rows of c are computed before the next rows.
  if (p.dwords * p.n <= kBlockDwords / 4)
    max_rows =
        std::min(max_rows, std::max<int64_t>(8 * p.tile_rows, kBlockDwords / 2 / std::max<int64_t>(1, p.n)));
  blocking.rows = EvenPartSize(p.m, max_rows, 1);
  blocking.panels = panels;
  if (threads > 1) SplitForThreads(p, threads, blocking);
  blocking.row_jobs = CeilDiv(p.m, blocking.rows);
  blocking.panel_jobs = CeilDiv(panels, blocking.panels);
  return blocking;
}

}  // namespace tern::cpu
