#include "kernels/cpu/gemm/panels.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/panel_blocking.h"
#include "kernels/cpu/move/transpose_simd.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/element_at.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

constexpr int64_t kSumDwords = 64 << 10;        // dwords of c that stay in the L2 cache
constexpr int64_t kStreamedDwords = 512 << 10;  // if b is larger, it is probably in memory and in no cache
// If b has fewer columns, rows of a that collide in the cache are not copied.
constexpr int64_t kWorthCopying = 64;

struct Blocking : PanelBlocking {
  bool copy;  // rows of a are copied into contiguous scratch memory first
};

Blocking BlockingOf(const PanelProduct& p, const TileTable& table, int threads) {
  const int64_t dwords = table.dwords(p.k), a_row = p.bf16_a ? p.a_row / 2 : p.a_row,
                max_depth = p.bf16_c ? std::max(dwords, kMaxPanelDepth) : kMaxPanelDepth;
  const bool in_place = p.a_column == 1 && (table.per_lane == 1 || p.bf16_a);
  const bool copy = !in_place || (Collide(a_row) && p.n >= kWorthCopying && p.m > 2);
  return {cpu::BlockingOf({p.m, p.n, p.k, dwords, max_depth, table.rows, table.columns, table.granule, copy,
                           table.row_granule, table.dot_cost},
                          threads),
          copy};
}

size_t ScratchPerThread(const Blocking& blocking) {
  return blocking.copy ? static_cast<size_t>(blocking.rows * (blocking.depth + kCopyPad)) * sizeof(float) : 0;
}

// One pass of a job over k. k0, depth and a_row are in dwords.
struct Part {
  int64_t m0, rows, panel0, panel1, k0, depth;
  const float* a;
  int64_t a_row;
};

// Copies the rows of a that `part` reads to `to`, as dwords. `depth` is the number of elements per row.
void CopyRows(const PanelProduct& p, const TileTable& table, const Part& part, int64_t depth, float* to) {
  if (p.bf16_a) {
    const float* rows = ElementAt(p.a, part.m0 * p.a_row, true) + part.k0;
    for (int64_t i = 0; i < part.rows; ++i)
      std::memcpy(to + i * part.a_row, rows + i * p.a_row / 2,
                  static_cast<size_t>(part.depth) * sizeof(float));
    return;
  }
  const float* from = p.a + part.m0 * p.a_row + part.k0 * table.per_lane * p.a_column;
  if (p.a_column == 1) {
    for (int64_t i = 0; i < part.rows; ++i) table.copy(from + i * p.a_row, depth, to + i * part.a_row);
    return;
  }
  if (p.a_row == 1 && table.per_lane == 1)
    return TransposeSimd().x32(from, p.a_column, depth, part.rows, to, part.a_row);
  constexpr int64_t kSide = 16;  // source and target of the transposition stay in cache
  float line[kSide];
  for (int64_t k = 0; k < depth; k += kSide)
    for (int64_t i = 0; i < part.rows; ++i) {
      const int64_t count = std::min(depth - k, kSide);
      for (int64_t kk = 0; kk < count; ++kk) line[kk] = from[i * p.a_row + (k + kk) * p.a_column];
      table.copy(line, count, to + i * part.a_row + k / table.per_lane);
    }
}

void RunPart(const PanelProduct& p, const TileTable& table, const Part& part) {
  const TileScope scope;
  const int64_t dwords = table.dwords(p.k);
  const bool first = part.k0 == 0, last = part.k0 + part.depth == dwords;
  const EvenSplit tiles(part.rows, table.rows);
  Tile t;
  t.a_row = part.a_row, t.k = part.depth, t.c_row = p.c_row, t.residual_row = p.tile.residual_row;
  t.accumulate = !first || p.accumulate;
  t.bf16_c = p.bf16_c, t.bf16_residual = p.tile.bf16_residual;
  // few_rows and streams depend on the product, not on the job. Jobs depend on the number of threads, and
  // results must not depend on it.
  t.few_rows = p.m <= std::max<int64_t>(kFewRows, table.row_granule);
  t.streams = dwords * p.n > kStreamedDwords;
  t.clip = last && p.tile.clip, t.low = p.tile.low, t.high = p.tile.high;
  const auto run = [&](int64_t panel, int64_t i) {
    const int64_t n0 = panel * table.columns, row = tiles.Start(i);
    t.columns = std::min<int64_t>(table.columns, p.n - n0);
    t.a = part.a + row * part.a_row;
    t.b = p.panels + (n0 * dwords + part.k0 * table.columns);
    t.bias = last && p.tile.bias ? p.tile.bias + n0 : nullptr;
    t.c = ElementAt(p.c, (part.m0 + row) * p.c_row + n0, p.bf16_c);
    t.residual = last && p.tile.residual
                     ? ElementAt(p.tile.residual, (part.m0 + row) * t.residual_row + n0, p.tile.bf16_residual)
                     : nullptr;
    table.run[tiles.Size(i)](t);
  };
  // If the panels stay in the L2 cache, c is computed row by row.
  if (part.depth * (part.panel1 - part.panel0) * table.columns <= kPanelDwords) {
    for (int64_t i = 0; i < tiles.parts(); ++i)
      for (int64_t panel = part.panel0; panel < part.panel1; ++panel) run(panel, i);
  } else {
    // If the panels exceed the L2 cache, c is computed panel by panel. Each tile prefetches its share of the
    // next panel.
    t.prefetch_step = CeilDiv(table.columns, tiles.parts());
    for (int64_t panel = part.panel0; panel < part.panel1; ++panel)
      for (int64_t i = 0; i < tiles.parts(); ++i) {
        const float* next = p.panels + ((panel + 1) * dwords + part.k0) * table.columns;
        t.prefetch = panel + 1 < part.panel1 ? next + i * part.depth * t.prefetch_step : nullptr;
        run(panel, i);
      }
  }
}

// Runs all passes over k for the rows and panels of `part`, then the epilogue.
void RunBlock(const PanelProduct& p, const TileTable& table, const Blocking& blocking, Part part,
              float* scratch) {
  const int64_t dwords = table.dwords(p.k);
  for (int64_t k0 = 0; k0 < std::max<int64_t>(dwords, 1); k0 += blocking.depth) {
    part.k0 = k0;
    part.depth = std::min(blocking.depth, dwords - k0);
    part.a = p.a ? ElementAt(p.a, part.m0 * p.a_row, p.bf16_a) + k0 : nullptr;
    part.a_row = p.bf16_a ? p.a_row / 2 : p.a_row;
    if (blocking.copy) {
      part.a = scratch;
      part.a_row = part.depth + kCopyPad;
      CopyRows(p, table, part, std::min(part.depth * table.per_lane, p.k - k0 * table.per_lane), scratch);
    }
    RunPart(p, table, part);
  }
  if (!p.epilogue || p.epilogue->empty()) return;
  const int64_t n0 = part.panel0 * table.columns, width = std::min(part.panel1 * table.columns, p.n) - n0;
  float* c = p.c + part.m0 * p.c_row + n0;
  const int64_t index = p.c_at + part.m0 * p.c_row + n0;
  p.epilogue->Apply(width == p.c_row ? Epilogue::Rows{1, part.rows * width, index, 0, c, 0}
                                     : Epilogue::Rows{part.rows, width, index, p.c_row, c, p.c_row});
}

void RunJob(const PanelProduct& p, const TileTable& table, const Blocking& blocking, int64_t job,
            float* scratch) {
  Part part{};
  part.m0 = blocking.RowJob(job) * blocking.rows;
  part.rows = std::min(blocking.rows, p.m - part.m0);
  const int64_t first = blocking.PanelJob(job) * blocking.panels,
                last = std::min(first + blocking.panels, CeilDiv(p.n, table.columns));
  // If another pass over k or the epilogue reads the sums again, panels are processed in groups whose sums
  // stay in the L2 cache.
  const bool reads_sums = table.dwords(p.k) > blocking.depth || (p.epilogue && !p.epilogue->empty());
  const int64_t group =
      reads_sums
          ? EvenPartSize(last - first, std::max<int64_t>(1, kSumDwords / (part.rows * table.columns)), 1)
          : last - first;
  for (part.panel0 = first; part.panel0 < last; part.panel0 = part.panel1) {
    part.panel1 = std::min(part.panel0 + group, last);
    RunBlock(p, table, blocking, part, scratch);
  }
}

}  // namespace

int64_t PanelsSize(int64_t k, int64_t n, Operands operands) {
  const TileTable& table = TileFor(operands);
  return CeilDiv(n, table.columns) * table.columns * table.dwords(k);
}

void PackPanels(const PanelSource& source, int64_t k, int64_t n, float* panels, const Workers& workers,
                Operands operands) {
  const TileTable& table = TileFor(operands);
  const int64_t width = table.columns;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width * k));
  workers.ParallelFor(CeilDiv(n, width), grain, [&](int64_t begin, int64_t end) {
    const int64_t n0 = begin * width, n1 = std::min(end * width, n);
    table.pack(source.b + n0 * source.column, source.row, source.column, k, n1 - n0, source.factor,
               panels + n0 * table.dwords(k));
  });
}

size_t PanelScratch(const PanelProduct& p, int threads) {
  if (p.m <= 0 || p.n <= 0) return 0;
  const TileTable& table = TileFor(p.operands);
  return MostScratch(
      threads, [&](int n) { return ScratchPerThread(BlockingOf(p, table, n)) * static_cast<size_t>(n); });
}

void MultiplyPanels(const PanelProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0) return;
  const TileTable& table = TileFor(p.operands);
  const Blocking blocking = BlockingOf(p, table, workers.threads());
  const size_t per_thread = ScratchPerThread(blocking);
  workers.ParallelFor(blocking.jobs(), 1, [&](int64_t begin, int64_t end, int worker) {
    auto* thread_scratch =
        reinterpret_cast<float*>(static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker));
    for (int64_t job = begin; job < end; ++job) RunJob(p, table, blocking, job, thread_scratch);
  });
}

}  // namespace tern::cpu
