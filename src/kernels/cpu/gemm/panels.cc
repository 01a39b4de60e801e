#include "kernels/cpu/gemm/panels.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/move/transpose_simd.h"
#include "kernels/cpu/support/cut.h"
#include "kernels/cpu/support/further.h"

namespace tern::cpu {
namespace {

constexpr int64_t kBlock = 80 << 10;        // words of a in the second cache, beside a panel and rows of c
constexpr int64_t kPanels = 128 << 10;      // words of b that stay there too
constexpr int64_t kSums = 64 << 10;         // words of c, likewise
constexpr int64_t kWorthAThread = 1 << 16;  // multiplications, those in the padding of columns too
constexpr int64_t kWorthCopying = 64;       // columns that a copied row of a is multiplied with
constexpr int64_t kFew = 4;                 // rows that no cut separates
constexpr int64_t kPad = 16;                // words between copied rows, so that they do not collide

// How a product is cut.
struct Cut {
  int64_t depth;         // words of k at once
  int64_t rows, panels;  // of a job
  int64_t row_jobs, panel_jobs;
  bool copy;  // rows of a are copied together first
};

// What a job takes, in half vectors of products per word of k. Every tile and every panel costs something by
// itself, and so does a row, more when it is copied.
double CostOf(const Cut& cut, int64_t rows, int64_t panels, const TileTable& table) {
  const auto high = static_cast<double>(rows), wide = static_cast<double>(panels);
  return wide * (2 * high + static_cast<double>(CeilDiv(rows, table.rows)) + 4) +
         (cut.copy ? 0.25 : 0.1) * high;
}

// Jobs for several threads: as even as the sizes allow, and so many that a thread which is held up can leave
// some to others. Threads that have rows of their own find these in their caches again when they go on with
// c.
void Share(const PanelProduct& p, const TileTable& table, int threads, Cut& cut) {
  constexpr double kSharedRows = 1.04, kFewJobs = 1.04;
  // Few rows wait for memory.
  const double work = static_cast<double>(std::max(p.m, kFew)) *
                      static_cast<double>(RoundUp(p.n, table.granule)) * static_cast<double>(p.k);
  const auto wanted = static_cast<int64_t>(std::min(work / kWorthAThread, threads * 4.0));
  if (wanted < 2) return;
  const int64_t panels = cut.panels, fewest = CeilDiv(p.m, cut.rows);
  double best = 0;
  for (int64_t some = panels + 1; some > 1;) {
    const int64_t panel_jobs = CeilDiv(panels, some - 1);
    some = CeilDiv(panels, panel_jobs);
    if (panel_jobs > wanted && best > 0) break;
    for (int64_t round = 1; round <= 4; ++round) {
      const int64_t most = std::max(fewest, CeilDiv(p.m, table.rows)),
                    rows = CeilDiv(p.m, std::clamp(CeilDiv(threads * round, panel_jobs), fewest, most));
      const int64_t row_jobs = CeilDiv(p.m, rows), jobs = row_jobs * panel_jobs;
      if (jobs > std::max(wanted, fewest) && best > 0) break;
      const double cost = static_cast<double>(CeilDiv(jobs, threads)) * CostOf(cut, rows, some, table) *
                          (row_jobs < threads ? kSharedRows : 1) * (jobs < 2 * threads ? kFewJobs : 1);
      if (best > 0 && cost >= best) continue;
      best = cost;
      cut.rows = rows, cut.panels = some;
    }
  }
}

Cut CutOf(const PanelProduct& p, const TileTable& table, int threads) {
  Cut cut{};
  const int64_t words = table.words(p.k);
  cut.depth = PartOf(words, p.narrow_c ? std::max(words, kMostPanelDepth) : kMostPanelDepth, 8);
  const bool as_words = p.a_column == 1 && (table.per_lane == 1 || p.narrow_a);
  const int64_t a_row = p.narrow_a ? p.a_row / 2 : p.a_row;
  cut.copy = !as_words || (Collide(a_row) && p.n >= kWorthCopying && p.m > 2);
  const int64_t panels = CeilDiv(p.n, table.columns);
  int64_t most_rows = std::max<int64_t>(table.rows, kBlock / cut.depth);
  // A small b stays in the nearest caches; then all columns of some rows of c go before the next rows.
  if (words * p.n <= kBlock / 4)
    most_rows =
        std::min(most_rows, std::max<int64_t>(8 * table.rows, kBlock / 2 / std::max<int64_t>(1, p.n)));
  cut.rows = PartOf(p.m, most_rows, 1);
  cut.panels = panels;
  if (threads > 1) Share(p, table, threads, cut);
  cut.row_jobs = CeilDiv(p.m, cut.rows);
  cut.panel_jobs = CeilDiv(panels, cut.panels);
  return cut;
}

size_t ScratchPerThread(const Cut& cut) {
  return cut.copy ? static_cast<size_t>(cut.rows * (cut.depth + kPad)) * sizeof(float) : 0;
}

// One job, one part of k; k0, depth and a_row in words.
struct Part {
  int64_t m0, rows, panel0, panel1, k0, depth;
  const float* a;
  int64_t a_row;
};

// depth: elements of k.
void CopyRows(const PanelProduct& p, const TileTable& table, const Part& part, int64_t depth, float* to) {
  if (p.narrow_a) {
    const float* words = Further(p.a, part.m0 * p.a_row, true) + part.k0;
    for (int64_t i = 0; i < part.rows; ++i)
      std::memcpy(to + i * part.a_row, words + i * p.a_row / 2,
                  static_cast<size_t>(part.depth) * sizeof(float));
    return;
  }
  const float* from = p.a + part.m0 * p.a_row + part.k0 * table.per_lane * p.a_column;
  if (p.a_column == 1) {
    for (int64_t i = 0; i < part.rows; ++i) table.copy(from + i * p.a_row, depth, to + i * part.a_row);
    return;
  }
  if (p.a_row == 1 && table.per_lane == 1)
    return TransposeSimd().words(from, p.a_column, depth, part.rows, to, part.a_row);
  constexpr int64_t kSide = 16;  // both sides of the transposition stay in cache
  float line[kSide];
  for (int64_t k = 0; k < depth; k += kSide)
    for (int64_t i = 0; i < part.rows; ++i) {
      const int64_t count = std::min(depth - k, kSide);
      for (int64_t kk = 0; kk < count; ++kk) line[kk] = from[i * p.a_row + (k + kk) * p.a_column];
      table.copy(line, count, to + i * part.a_row + k / table.per_lane);
    }
}

void RunPart(const PanelProduct& p, const TileTable& table, const Part& part) {
  const int64_t words = table.words(p.k);
  const bool first = part.k0 == 0, last = part.k0 + part.depth == words;
  const EvenCut tiles(part.rows, table.rows);
  Tile t;
  t.a_row = part.a_row, t.k = part.depth, t.c_row = p.c_row, t.residual_row = p.tile.residual_row;
  t.accumulate = !first || p.accumulate;
  t.narrow_c = p.narrow_c, t.narrow_residual = p.tile.narrow_residual;
  t.few = p.m <= kFew;  // by the product: where it is cut may depend on the threads
  t.clip = last && p.tile.clip, t.low = p.tile.low, t.high = p.tile.high;
  const auto run = [&](int64_t panel, int64_t i) {
    const int64_t n0 = panel * table.columns, row = tiles.Start(i);
    t.columns = std::min<int64_t>(table.columns, p.n - n0);
    t.a = part.a + row * part.a_row;
    t.b = p.panels + (n0 * words + part.k0 * table.columns);
    t.bias = last && p.tile.bias ? p.tile.bias + n0 : nullptr;
    t.c = Further(p.c, (part.m0 + row) * p.c_row + n0, p.narrow_c);
    t.residual = last && p.tile.residual
                     ? Further(p.tile.residual, (part.m0 + row) * t.residual_row + n0, p.tile.narrow_residual)
                     : nullptr;
    table.run[tiles.Size(i)](t);
  };
  // Along rows of c, as long as the panels stay in the second cache.
  if (part.depth * (part.panel1 - part.panel0) * table.columns <= kPanels) {
    for (int64_t i = 0; i < tiles.pieces(); ++i)
      for (int64_t panel = part.panel0; panel < part.panel1; ++panel) run(panel, i);
  } else {
    // Meanwhile each tile brings its share of the next panel nearer.
    t.ahead_step = CeilDiv(table.columns, tiles.pieces());
    for (int64_t panel = part.panel0; panel < part.panel1; ++panel)
      for (int64_t i = 0; i < tiles.pieces(); ++i) {
        const float* next = p.panels + ((panel + 1) * words + part.k0) * table.columns;
        t.ahead = panel + 1 < part.panel1 ? next + i * part.depth * t.ahead_step : nullptr;
        run(panel, i);
      }
  }
}

// All of k for some rows and panels.
void RunBlock(const PanelProduct& p, const TileTable& table, const Cut& cut, Part part, float* scratch) {
  const int64_t words = table.words(p.k);
  for (int64_t k0 = 0; k0 < std::max<int64_t>(words, 1); k0 += cut.depth) {
    part.k0 = k0;
    part.depth = std::min(cut.depth, words - k0);
    part.a = p.a ? Further(p.a, part.m0 * p.a_row, p.narrow_a) + k0 : nullptr;
    part.a_row = p.narrow_a ? p.a_row / 2 : p.a_row;
    if (cut.copy) {
      part.a = scratch;
      part.a_row = part.depth + kPad;
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

void RunJob(const PanelProduct& p, const TileTable& table, const Cut& cut, int64_t job, float* scratch) {
  Part part{};
  part.m0 = job / cut.panel_jobs * cut.rows;
  part.rows = std::min(cut.rows, p.m - part.m0);
  const int64_t first = job % cut.panel_jobs * cut.panels,
                last = std::min(first + cut.panels, CeilDiv(p.n, table.columns));
  // Sums that are taken in several parts, or that something is done to, are still near when it is their turn.
  const bool again = table.words(p.k) > cut.depth || (p.epilogue && !p.epilogue->empty());
  const int64_t some =
      again ? PartOf(last - first, std::max<int64_t>(1, kSums / (part.rows * table.columns)), 1)
            : last - first;
  for (part.panel0 = first; part.panel0 < last; part.panel0 = part.panel1) {
    part.panel1 = std::min(part.panel0 + some, last);
    RunBlock(p, table, cut, part, scratch);
  }
}

}  // namespace

int64_t PanelsSize(int64_t k, int64_t n, Operands operands) {
  const TileTable& table = TileFor(operands);
  return CeilDiv(n, table.columns) * table.columns * table.words(k);
}

void PackPanels(const PanelSource& source, int64_t k, int64_t n, float* panels, const Workers& workers,
                Operands operands) {
  const TileTable& table = TileFor(operands);
  const int64_t width = table.columns;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width * k));
  workers.ParallelFor(CeilDiv(n, width), grain, [&](int64_t begin, int64_t end) {
    const int64_t n0 = begin * width, n1 = std::min(end * width, n);
    table.pack(source.b + n0 * source.column, source.row, source.column, k, n1 - n0, source.factor,
               panels + n0 * table.words(k));
  });
}

size_t PanelScratch(const PanelProduct& p, int threads) {
  if (p.m <= 0 || p.n <= 0) return 0;
  return ScratchPerThread(CutOf(p, TileFor(p.operands), threads)) * static_cast<size_t>(threads);
}

void MultiplyPanels(const PanelProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0) return;
  const TileTable& table = TileFor(p.operands);
  const Cut cut = CutOf(p, table, workers.threads());
  const size_t per_thread = ScratchPerThread(cut);
  workers.ParallelFor(cut.row_jobs * cut.panel_jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    auto* mine =
        reinterpret_cast<float*>(static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker));
    for (int64_t job = begin; job < end; ++job) RunJob(p, table, cut, job, mine);
  });
}

}  // namespace tern::cpu
