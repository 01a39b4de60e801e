#include "kernels/cpu/gemm/panel_blocking.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

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

// Estimates the time that a thread waits for memory, in the unit of CostOf, if it runs `jobs` consecutive
// jobs of this size.
double TrafficOf(const PanelShape& p, int64_t rows, int64_t panels, double jobs, bool panels_first) {
  // The time to read half a panel, or as many dwords of a, that another core or no core has in its cache.
  constexpr double kHalfPanel = 6;
  const auto all_rows = static_cast<double>(CeilDiv(p.m, rows)),
             all_groups = static_cast<double>(CeilDiv(CeilDiv(p.n, p.tile_columns), panels));
  // How many blocks of rows, and how many groups of panels, the jobs read. What fits in the L2 cache is read
  // only once.
  double blocks = panels_first ? std::min(jobs, all_rows) : std::max(1.0, jobs / all_groups),
         groups = panels_first ? std::max(1.0, jobs / all_rows) : std::min(jobs, all_groups);
  if (panels_first && p.dwords * p.m > kPanelDwords) blocks *= groups;
  if (!panels_first && p.dwords * p.n > kPanelDwords) groups *= blocks;
  return kHalfPanel * 2 *
         (groups * static_cast<double>(panels) + blocks * static_cast<double>(rows) / p.tile_columns);
}

// Splits the product for several threads into jobs of even size. It prefers several jobs per thread, so that
// other threads can run the remaining jobs of a delayed thread. Two threads prefer splits by rows, because a
// thread then finds its rows of c in its cache when it reads c next. More threads would together read b too
// often. Their splits need few reads of a and b.
void SplitForThreads(const PanelShape& p, int threads, PanelBlocking& blocking) {
  constexpr double kSharedRows = 1.04;
  // Products of up to kFewRows rows are limited by memory bandwidth, so their time does not depend on p.m.
  const double work = static_cast<double>(std::max(p.m, kFewRows)) *
                      static_cast<double>(RoundUp(p.n, p.granule)) * static_cast<double>(p.k) * p.dot_cost;
  const auto target =
      static_cast<int64_t>(std::min(work / kMinWorkPerThread, static_cast<double>(MaxJobs(threads))));
  if (target < 2) return;
  if (p.m <= kFewRows) {
    // Memory bandwidth limits the speed. With small jobs, all threads end at about the same time.
    const int64_t panel_bytes = std::max<int64_t>(1, p.dwords) * p.tile_columns * 4;
    blocking.panels =
        std::clamp<int64_t>(kFewRowsJobBytes / panel_bytes, 1, CeilDiv(blocking.panels, threads));
    return;
  }
  const int64_t panels = blocking.panels, fewest = CeilDiv(p.m, blocking.rows),
                rounds = MaxJobs(threads) / threads;
  double best = 0;
  for (int64_t group = panels + 1; group > 1;) {
    const int64_t panel_jobs = CeilDiv(panels, group - 1);
    group = CeilDiv(panels, panel_jobs);
    if (panel_jobs > target && best > 0) break;
    for (int64_t round = 1; round <= rounds; round += std::max<int64_t>(1, round / 3)) {
      const int64_t max_row_jobs = std::max(fewest, CeilDiv(p.m, p.tile_rows)),
                    rows =
                        CeilDiv(p.m, std::clamp(CeilDiv(threads * round, panel_jobs), fewest, max_row_jobs));
      const int64_t row_jobs = CeilDiv(p.m, rows), jobs = row_jobs * panel_jobs;
      if (jobs > std::max(target, fewest) && best > 0) break;
      const double work_cost = JobRounds(jobs, threads) * CostOf(p, rows, group),
                   per_thread = static_cast<double>(jobs) / threads;
      for (const bool panels_first : {false, true}) {
        if (panels_first && threads <= 2) continue;
        const double cost = threads > 2 ? work_cost + TrafficOf(p, rows, group, per_thread, panels_first)
                                        : work_cost * (row_jobs < threads ? kSharedRows : 1);
        if (best > 0 && cost >= best) continue;
        best = cost;
        blocking.rows = rows, blocking.panels = group, blocking.panels_first = panels_first;
      }
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
