#include "kernels/cpu/byte/byte_panels.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/byte/byte_pack.h"
#include "kernels/cpu/byte/copy_bytes.h"
#include "kernels/cpu/gemm/panel_blocking.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

// If b has fewer columns, rows of a that collide in the cache are not copied.
constexpr int64_t kWorthCopying = 64;

bool Copies(const ByteGemm& p, const ByteTileTable& table) {
  if (p.a_type == DType::kI8 || p.k % 4 != 0 || table.element_bytes != 1) return true;
  return p.a_row % 2048 == 0 && p.n >= kWorthCopying && p.m > 2;
}

// Sums of any length take one pass, because 8-bit results cannot store partial sums.
PanelBlocking BlockingFor(const ByteGemm& p, const ByteTileTable& table, int threads) {
  const int64_t dwords = table.Dwords(p.k);
  return BlockingOf({p.m, p.n, dwords, dwords, std::max<int64_t>(1, dwords), table.rows, table.columns,
                     table.granule, Copies(p, table), table.row_granule, table.dot_cost},
                    threads);
}

// The stride of copied rows, in bytes.
int64_t CopiedRow(const ByteGemm& p, const ByteTileTable& table) {
  return 4 * (table.Dwords(p.k) + kCopyPad);
}

size_t ScratchPerThread(const ByteGemm& p, const ByteTileTable& table, const PanelBlocking& blocking) {
  return Copies(p, table) ? Aligned(static_cast<size_t>(blocking.rows * CopiedRow(p, table))) : 0;
}

const char* At(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* At(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

// A block of rows of a and a range of panels.
struct Part {
  int64_t m0, rows, panel0, panel1;
  const uint8_t* a;
  int64_t a_row;
};

void RunPart(const ByteGemm& p, const ByteTileTable& table, const Part& part, bool rounds) {
  const TileScope scope;
  const int64_t dwords = table.Dwords(p.k), width = OutputWidth(p.epilogue),
                panel_bytes = table.PanelBytes(dwords);
  const void* residual = ResidualOf(p.epilogue);
  const EvenSplit tiles(part.rows, table.rows);
  ByteTile t;
  t.a_row = part.a_row, t.k = dwords, t.c_row = p.c_row;
  t.SetEpilogue(p.epilogue, rounds);
  const auto run = [&](int64_t panel, int64_t i) {
    const int64_t n0 = panel * table.columns, row = tiles.Start(i), m = part.m0 + row;
    t.column = n0, t.columns = std::min<int64_t>(table.columns, p.n - n0);
    t.a = part.a + row * part.a_row;
    t.b = p.panels + panel * panel_bytes;
    t.c = At(p.c, (m * p.c_row + n0) * width);
    if (residual) t.residual = At(residual, (m * p.epilogue.residual_row + n0) * width);
    table.run[tiles.Size(i)](t);
  };
  // If the panels stay in the L2 cache, c is computed row by row.
  if ((part.panel1 - part.panel0) * panel_bytes <= 4 * kPanelDwords) {
    for (int64_t i = 0; i < tiles.parts(); ++i)
      for (int64_t panel = part.panel0; panel < part.panel1; ++panel) run(panel, i);
    return;
  }
  // Otherwise c is computed panel by panel. Each tile prefetches its share of the next panel.
  t.prefetch_step = CeilDiv(table.PanelBytes(1), tiles.parts());
  for (int64_t panel = part.panel0; panel < part.panel1; ++panel)
    for (int64_t i = 0; i < tiles.parts(); ++i) {
      t.prefetch = panel + 1 < part.panel1
                       ? p.panels + (panel + 1) * panel_bytes + i * dwords * t.prefetch_step
                       : nullptr;
      run(panel, i);
    }
}

void RunJob(const ByteGemm& p, const ByteTileTable& table, const PanelBlocking& blocking, int64_t job,
            bool rounds, uint8_t* scratch) {
  Part part{};
  part.m0 = blocking.RowJob(job) * blocking.rows;
  part.rows = std::min(blocking.rows, p.m - part.m0);
  part.panel0 = blocking.PanelJob(job) * blocking.panels;
  part.panel1 = std::min(part.panel0 + blocking.panels, CeilDiv(p.n, table.columns));
  const auto* rows = static_cast<const uint8_t*>(p.a) + part.m0 * p.a_row;
  part.a = rows, part.a_row = p.a_row;
  if (Copies(p, table)) {
    part.a = scratch, part.a_row = CopiedRow(p, table);
    const ByteCopier copier{FlipOf(p.a_type), table.element_bytes};
    for (int64_t i = 0; i < part.rows; ++i) copier.Copy(rows + i * p.a_row, p.k, scratch + i * part.a_row);
  }
  RunPart(p, table, part, rounds);
}

}  // namespace

int64_t BytePackedSize(int64_t k, int64_t n) {
  const ByteTileTable& table = ByteTileSimd();
  return static_cast<int64_t>(Aligned(static_cast<size_t>(n) * sizeof(int32_t))) +
         CeilDiv(n, table.columns) * table.PanelBytes(table.Dwords(k));
}

void PackBytes(const ByteWeights& b, int64_t row, int64_t column, int64_t k, int64_t n, int8_t* packed,
               const Workers& workers) {
  const ByteTileTable& table = ByteTileSimd();
  auto* sums = reinterpret_cast<int32_t*>(packed);
  std::fill(sums, sums + n, 0);
  int8_t* panels = packed + Aligned(static_cast<size_t>(n) * sizeof(int32_t));
  const int64_t width = table.columns;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width * k));
  workers.ParallelFor(CeilDiv(n, width), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      PackBytePanel(table, b, row, column, k, i * width, std::min(width, n - i * width),
                    panels + i * table.PanelBytes(table.Dwords(k)), sums + i * width);
  });
}

int64_t BytePanelColumns() { return ByteTileSimd().columns; }

int64_t BytePanelDepth(int64_t k) {
  const ByteTileTable& table = ByteTileSimd();
  return table.Dwords(k) * 4 / table.element_bytes;
}

int64_t BytePanelOffset(int64_t k, int64_t n) {
  const ByteTileTable& table = ByteTileSimd();
  return n / table.columns * table.PanelBytes(table.Dwords(k));
}

size_t ByteGemmScratch(const ByteGemm& p, int threads) {
  if (p.m <= 0 || p.n <= 0) return 0;
  const ByteTileTable& table = ByteTileSimd();
  return MostScratch(threads, [&](int n) {
    return ScratchPerThread(p, table, BlockingFor(p, table, n)) * static_cast<size_t>(n);
  });
}

void MultiplyBytes(const ByteGemm& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0) return;
  const ByteTileTable& table = ByteTileSimd();
  const PanelBlocking blocking = BlockingFor(p, table, workers.threads());
  const size_t per_thread = ScratchPerThread(p, table, blocking);
  const bool rounds = RoundsInRegisters(p.epilogue, p.n, p.k);
  workers.ParallelFor(blocking.jobs(), 1, [&](int64_t begin, int64_t end, int worker) {
    auto* thread_scratch = static_cast<uint8_t*>(scratch) + per_thread * static_cast<size_t>(worker);
    for (int64_t job = begin; job < end; ++job) RunJob(p, table, blocking, job, rounds, thread_scratch);
  });
}

}  // namespace tern::cpu
