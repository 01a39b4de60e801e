#include "kernels/cpu/gemm/transposed.h"

#include <algorithm>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/move/transpose_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

// Columns of c per block. This is a multiple of the tile height of every instruction set.
constexpr int64_t kColumns = 168;
constexpr int64_t kMaxRows = 1024;              // maximum rows of a, which are packed
constexpr int64_t kMinWorkPerThread = 1 << 18;  // in multiply-adds

size_t PanelBytes(const GemmParams& p) {
  return Aligned(static_cast<size_t>(PanelsSize(p.k, p.m)) * sizeof(float));
}

// Returns the product whose rows are columns [first, first + count) of c.
PanelProduct ProductOf(const GemmParams& p, int64_t first, int64_t count) {
  PanelProduct product;
  product.m = count, product.n = p.m, product.k = p.k;
  if (p.b.data) product.a = static_cast<const float*>(p.b.data) + first * p.b.column;
  product.a_row = p.b.column;
  product.c_row = p.m;
  return product;
}

struct Memory {
  size_t block, product;  // bytes per thread
  explicit Memory(const GemmParams& p)
      : block(Aligned(static_cast<size_t>(kColumns * p.m) * sizeof(float))),
        product(Aligned(PanelScratch(ProductOf(p, 0, std::min(p.n, kColumns)), 1))) {}
};

void RunBlock(const GemmParams& p, PanelProduct product, int64_t first, char* scratch, const Memory& memory) {
  const Workers one_thread(1);
  const int64_t count = product.m;
  product.c = reinterpret_cast<float*>(scratch);
  MultiplyPanels(product, scratch + memory.block, one_thread);
  float* c = static_cast<float*>(p.c) + first;
  TransposeSimd().x32(product.c, p.m, count, p.m, c, p.c_row);
  if (p.column_bias)
    for (int64_t i = 0; i < p.m; ++i)
      AddSimd().run(DType::kF32, c + i * p.c_row, static_cast<const float*>(p.column_bias) + first,
                    c + i * p.c_row, count);
  if (p.epilogue) p.epilogue->Apply({p.m, count, first, p.c_row, c, p.c_row});
}

}  // namespace

bool WorthTransposing(const GemmParams& p) {
  return p.count == 1 && p.b.row == 1 && p.b.column > 1 && p.n >= 2 * p.m && p.m <= kMaxRows &&
         p.n >= kColumns && !p.accumulate && !p.row_bias;
}

size_t TransposedScratch(const GemmParams& p, int threads) {
  const Memory memory(p);
  return PanelBytes(p) + (memory.block + memory.product) * static_cast<size_t>(threads);
}

void GemmTransposed(const GemmParams& p, void* scratch, const Workers& workers) {
  const Memory memory(p);
  auto* panels = static_cast<float*>(scratch);
  PackPanels({static_cast<const float*>(p.a.data), p.a.column, p.a.row, p.alpha}, p.k, p.m, panels, workers);
  char* blocks = static_cast<char*>(scratch) + PanelBytes(p);
  const int64_t count = (p.n + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerThread / std::max<int64_t>(1, kColumns * p.m * p.k));
  workers.ParallelFor(count, grain, [&](int64_t begin, int64_t end, int worker) {
    char* thread_scratch = blocks + (memory.block + memory.product) * static_cast<size_t>(worker);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * kColumns;
      PanelProduct product = ProductOf(p, first, std::min(kColumns, p.n - first));
      product.panels = panels;
      RunBlock(p, product, first, thread_scratch, memory);
    }
  });
}

}  // namespace tern::cpu
