#include "kernels/cpu/nbits/dynamic.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/nbits/rows_simd.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per job
constexpr int64_t kChunk = 2048;     // elements that RoundRows rounds at once

// The same as in RowScaleFor of ops/matmul/row_rounding.h.
struct RowScale {
  float scale = 0, inverse = 0;
};
RowScale ScaleFor(float largest) {
  if (!std::isfinite(largest)) return {NAN, 0};
  const float inverse = 127 / largest;
  return std::isfinite(inverse) ? RowScale{largest / 127, inverse} : RowScale{};
}

int64_t GrainOf(int64_t row) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1)); }

int64_t ScalesAt(int64_t k, int64_t n) { return RoundUp(BytePackedSize(k, n), 64); }
int64_t OffsetsAt(int64_t k, int64_t n) { return ScalesAt(k, n) + RoundUp(4 * n, 64); }

// The stride of rounded rows. Rows whose addresses differ by a multiple of 2048 would collide in the cache.
int64_t RowStride(int64_t k) {
  const int64_t dense = RoundUp(k, 4);
  return dense % 2048 == 0 ? dense + 64 : dense;
}
size_t RowBytes(const DynamicProduct& p) { return Aligned(static_cast<size_t>(p.m * RowStride(p.k))); }
size_t ScaleBytes(const DynamicProduct& p) { return Aligned(static_cast<size_t>(p.m) * sizeof(float)); }

// The product is computed in blocks, which are finished while they are in the L2 cache.
struct Blocks {
  Blocks(const DynamicProduct& p, int threads) {
    rows = p.m <= kMaxRows ? p.m : CeilDiv(p.m, CeilDiv(p.m, kMaxRows));
    row_blocks = CeilDiv(p.m, rows);
    const int64_t panels = CeilDiv(p.n, BytePanelColumns());
    int64_t most = std::max<int64_t>(1, kBlockBytes / (BytePanelColumns() * std::max(4 * rows, p.k)));
    if (threads > 1) most = std::clamp<int64_t>(row_blocks * panels / (kJobsPerThread * threads), 1, most);
    column_blocks = CeilDiv(panels, most);
    columns = CeilDiv(panels, column_blocks) * BytePanelColumns();
    column_blocks = CeilDiv(p.n, columns);
  }
  static constexpr int64_t kMaxRows =
      256;  // rows of a block; more would let its rounded rows leave the L2 cache
  static constexpr int64_t kBlockBytes = 1 << 18;  // largest size of a block's sums, and of its panels
  static constexpr int64_t kJobsPerThread = 4;     // so that threads finish at about the same time
  int64_t rows, columns, row_blocks, column_blocks;
};

// Rows [m0, m0 + m) and columns [n0, n0 + n) of a product.
struct Block {
  int64_t m0, m, n0, n;
};

ByteGemm GemmOf(const DynamicProduct& p, const uint8_t* rows, const Block& b) {
  ByteGemm g;
  g.m = b.m, g.n = b.n, g.k = BytePanelDepth(p.k);  // rounded rows and panels are padded
  g.a = rows + b.m0 * RowStride(p.k), g.a_type = DType::kU8, g.a_row = RowStride(p.k);
  g.c = p.c + b.m0 * p.n + b.n0, g.c_row = p.n;
  g.epilogue.output = ByteOutput::kF32;
  if (!p.packed) return g;
  g.panels = BytePanels(reinterpret_cast<const int8_t*>(p.packed), p.n) + BytePanelOffset(p.k, b.n0);
  g.epilogue.scale = reinterpret_cast<const float*>(p.packed + ScalesAt(p.k, p.n)) + b.n0;
  g.epilogue.bias = reinterpret_cast<const int32_t*>(p.packed + OffsetsAt(p.k, p.n)) + b.n0;
  return g;
}

size_t GemmScratch(const DynamicProduct& p, const Blocks& blocks) {
  return Aligned(ByteGemmScratch(GemmOf(p, nullptr, {0, blocks.rows, 0, std::min(blocks.columns, p.n)}), 1));
}

// Multiplies the sums of each row by the row's scale, adds the bias, and applies the epilogue.
void FinishBlock(const DynamicProduct& p, const Block& b, const float* scales) {
  const RowsTable& table = RowsSimd();
  float* c = p.c + b.m0 * p.n + b.n0;
  for (int64_t i = 0; i < b.m; ++i)
    table.rescale(c + i * p.n, b.n, scales[b.m0 + i], p.bias ? p.bias + b.n0 : nullptr);
  if (p.epilogue && !p.epilogue->empty()) p.epilogue->Apply({b.m, b.n, b.m0 * p.n + b.n0, p.n, c, p.n});
}

void RoundRow(const RowsTable& table, const float* x, int64_t k, uint8_t* row, float& scale) {
  const RowScale found = ScaleFor(table.largest(x, k));
  scale = found.scale;
  table.to_bytes(x, k, found.inverse, -128, reinterpret_cast<int8_t*>(row));
  std::fill(row + k, row + RoundUp(k, 4), uint8_t{0});
}

}  // namespace

int64_t DynamicPackedSize(int64_t k, int64_t n) { return OffsetsAt(k, n) + 4 * n; }

void PackDynamic(const int8_t* b, int64_t row, int64_t column, int64_t k, int64_t n, uint8_t* packed,
                 const Workers& workers) {
  auto* bytes = reinterpret_cast<int8_t*>(packed);
  PackBytes({b, DType::kI8, nullptr, false}, row, column, k, n, bytes, workers);
  auto* offsets = reinterpret_cast<int32_t*>(packed + OffsetsAt(k, n));
  for (int64_t j = 0; j < n; ++j) offsets[j] = CompensatedBias(0, DType::kU8, 128, WeightSums(bytes)[j]);
}

float* DynamicScales(uint8_t* packed, int64_t k, int64_t n) {
  return reinterpret_cast<float*>(packed + ScalesAt(k, n));
}

size_t DynamicScratch(const DynamicProduct& p, int threads) {
  if (p.m <= 0 || p.n <= 0) return 0;
  return RowBytes(p) + ScaleBytes(p) +
         MostScratch(threads, [&](int n) { return GemmScratch(p, Blocks(p, n)) * static_cast<size_t>(n); });
}

void MultiplyDynamic(const DynamicProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0) return;
  auto* rows = static_cast<uint8_t*>(scratch);
  auto* scales = reinterpret_cast<float*>(rows + RowBytes(p));
  uint8_t* gemm_scratch = rows + RowBytes(p) + ScaleBytes(p);
  workers.ParallelFor(p.m, GrainOf(p.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      RoundRow(RowsSimd(), p.a + i * p.k, p.k, rows + i * RowStride(p.k), scales[i]);
  });
  const Blocks blocks(p, workers.threads());
  const size_t per_thread = GemmScratch(p, blocks);
  const Workers alone(1);
  workers.ParallelFor(
      blocks.row_blocks * blocks.column_blocks, 1, [&](int64_t begin, int64_t end, int worker) {
        for (int64_t job = begin; job < end; ++job) {
          const int64_t m0 = job / blocks.column_blocks * blocks.rows,
                        n0 = job % blocks.column_blocks * blocks.columns;
          const Block b{m0, std::min(blocks.rows, p.m - m0), n0, std::min(blocks.columns, p.n - n0)};
          MultiplyBytes(GemmOf(p, rows, b), gemm_scratch + per_thread * static_cast<size_t>(worker), alone);
          FinishBlock(p, b, scales);
        }
      });
}

void RoundRows(const float* a, int64_t m, int64_t k, float* rounded, const Workers& workers) {
  const RowsTable& table = RowsSimd();
  workers.ParallelFor(m, GrainOf(k), [&](int64_t begin, int64_t end) {
    int8_t bytes[kChunk];
    for (int64_t i = begin; i < end; ++i) {
      const RowScale scale = ScaleFor(table.largest(a + i * k, k));
      for (int64_t j = 0; j < k; j += kChunk) {
        const int64_t count = std::min(kChunk, k - j);
        table.to_bytes(a + i * k + j, count, scale.inverse, 0, bytes);
        table.to_floats(bytes, count, scale.scale, rounded + i * k + j);
      }
    }
  });
}

}  // namespace tern::cpu
