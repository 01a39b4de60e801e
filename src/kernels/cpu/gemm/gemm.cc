#include "kernels/cpu/gemm/gemm.h"

#include <algorithm>
#include <optional>

#include "kernels/cpu/gemm/gemm_simd.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/gemm/transposed.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMinWorkPerThread = 1 << 19;  // in multiply-adds
constexpr int64_t kMinPackedRows = 5;           // b is packed into panels if a has at least this many rows

std::optional<Stored> StoredOf(DType t) {
  switch (t) {
    case DType::kF32:
      return Stored::kF32;
    case DType::kF16:
      return Stored::kF16;
    case DType::kBF16:
      return Stored::kBF16;
    case DType::kF64:
      return Stored::kF64;
    case DType::kI8:
      return Stored::kI8;
    case DType::kU8:
      return Stored::kU8;
    case DType::kI16:
      return Stored::kI16;
    case DType::kU16:
      return Stored::kU16;
    case DType::kI32:
    case DType::kU32:
      return Stored::kI32;
    case DType::kI64:
    case DType::kU64:
      return Stored::kI64;
    default:
      return std::nullopt;
  }
}

bool IsHalf(DType t) { return t == DType::kF16 || t == DType::kBF16; }

const GemmTable& TableOf(DType compute) {
  const GemmTables& tables = GemmSimd();
  switch (compute) {
    case DType::kF32:
      return tables.f32;
    case DType::kF64:
      return tables.f64;
    case DType::kU32:
      return tables.u32;
    default:
      return tables.u64;
  }
}

// Describes how a product is split into blocks of c, which run in parallel.
struct Grid {
  int64_t m_block, n_block, m_count, n_count;
};

int64_t BlockCount(int64_t size, int64_t unit, int64_t target) {
  return std::clamp<int64_t>(target, 1, std::max<int64_t>(1, size / unit));
}
int64_t BlockOf(int64_t size, int64_t unit, int64_t blocks) {
  return (((size + blocks - 1) / blocks + unit - 1) / unit) * unit;
}

Grid GridOf(const GemmParams& p, const GemmTable& table, int threads) {
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) *
                      static_cast<double>(std::max<int64_t>(p.k, 1)) * static_cast<double>(p.count);
  int64_t target =
      threads == 1 ? 1 : static_cast<int64_t>(std::min<double>(work / kMinWorkPerThread, threads * 4.0));
  target = (std::max<int64_t>(target, 1) + p.count - 1) / std::max<int64_t>(p.count, 1);
  int64_t m_blocks = 1, n_blocks = 1;
  if (p.m > p.n) {
    m_blocks = BlockCount(p.m, table.mr * 4, target);
    n_blocks = BlockCount(p.n, table.nr * 4, (target + m_blocks - 1) / m_blocks);
  } else {
    n_blocks = BlockCount(p.n, table.nr * 4, target);
    m_blocks = BlockCount(p.m, table.mr * 4, (target + n_blocks - 1) / n_blocks);
  }
  Grid grid{BlockOf(p.m, table.mr, m_blocks), BlockOf(p.n, table.nr, n_blocks), 0, 0};
  if (IsHalf(p.c_type)) {
    grid.m_block = std::min(grid.m_block, kHalfResultRows);
    grid.n_block = std::min(grid.n_block, kHalfResultColumns);
  }
  grid.m_count = (p.m + grid.m_block - 1) / grid.m_block;
  grid.n_count = (p.n + grid.n_block - 1) / grid.n_block;
  return grid;
}

size_t ScratchPerThread(const GemmParams& p, const GemmTable& table, const Grid& grid) {
  const int64_t bytes =
      table.scratch(std::min(grid.m_block, p.m), std::min(grid.n_block, p.n), p.k, IsHalf(p.c_type));
  return (static_cast<size_t>(bytes) + 127) / 64 * 64;
}

const void* OffsetBy(const void* data, DType type, int64_t elements) {
  return data ? static_cast<const char*>(data) + elements * (BitWidth(type) / 8) : nullptr;
}

int64_t At(const int64_t* list, int64_t i) { return list ? list[i] : 0; }

void Finish(const GemmBlock& block, int64_t index, int64_t rows, int64_t columns, void* sums, int64_t step) {
  const bool one_array = step == columns && block.c_row == columns;
  static_cast<const Epilogue*>(block.finish_context)
      ->Apply(one_array ? Epilogue::Rows{1, rows * columns, index, 0, sums, 0}
                        : Epilogue::Rows{rows, columns, index, block.c_row, sums, step});
}

GemmBlock BlockFor(const GemmParams& p, const Grid& grid, int64_t job) {
  const int64_t batch = job / (grid.m_count * grid.n_count), m = job / grid.n_count % grid.m_count,
                n = job % grid.n_count;
  GemmBlock block{};
  block.m0 = m * grid.m_block, block.m1 = std::min(p.m, block.m0 + grid.m_block);
  block.n0 = n * grid.n_block, block.n1 = std::min(p.n, block.n0 + grid.n_block);
  block.k = p.k;
  block.a = {OffsetBy(p.a.data, p.a.type, At(p.a_at, batch)), *StoredOf(p.a.type), p.a.row, p.a.column};
  if (!p.b_rows)
    block.b = {OffsetBy(p.b.data, p.b.type, At(p.b_at, batch)), *StoredOf(p.b.type), p.b.row, p.b.column};
  block.b_rows = p.b_rows;
  block.b_context = p.b_context;
  block.batch = batch;
  block.c = const_cast<void*>(OffsetBy(p.c, p.c_type, At(p.c_at, batch)));
  block.c_type = *StoredOf(p.c_type);
  block.c_row = p.c_row;
  block.row_bias = OffsetBy(p.row_bias, p.c_type, At(p.bias_at, batch));
  block.column_bias = OffsetBy(p.column_bias, p.c_type, At(p.bias_at, batch));
  block.alpha = p.alpha;
  block.accumulate = p.accumulate;
  if (p.epilogue && !p.epilogue->empty()) block.finish = Finish;
  block.finish_context = p.epilogue;
  block.c_at = At(p.c_at, batch);
  return block;
}

// Returns whether b is packed into panels first. This is done only in f32.
bool UsesPanels(const GemmParams& p) {
  return p.c_type == DType::kF32 && p.a.type == DType::kF32 && !p.b_rows && p.b.type == DType::kF32 &&
         p.m >= kMinPackedRows;
}

PanelProduct ProductOf(const GemmParams& p, int64_t batch, const float* panels) {
  PanelProduct product;
  product.m = p.m, product.n = p.n, product.k = p.k;
  product.a = static_cast<const float*>(OffsetBy(p.a.data, p.a.type, At(p.a_at, batch)));
  product.a_row = p.a.row, product.a_column = p.a.column;
  product.panels = panels;
  product.c_at = At(p.c_at, batch);
  if (p.c) product.c = static_cast<float*>(p.c) + product.c_at;
  product.c_row = p.c_row;
  product.accumulate = p.accumulate;
  product.tile.bias = static_cast<const float*>(OffsetBy(p.column_bias, p.c_type, At(p.bias_at, batch)));
  product.epilogue = p.epilogue;
  return product;
}

// Returns whether all threads work on one product at a time. Otherwise each thread computes entire products.
bool ThreadsShareProducts(const GemmParams& p, int threads) {
  return p.count == 1 || (p.count < 2 * threads && p.m * p.n * p.k >= 8 * kMinWorkPerThread);
}

struct PanelMemory {
  size_t panels, product;  // in bytes
};
PanelMemory PanelMemoryOf(const GemmParams& p, int threads) {
  return {Aligned(static_cast<size_t>(PanelsSize(p.k, p.n)) * sizeof(float)),
          Aligned(PanelScratch(ProductOf(p, 0, nullptr), threads))};
}

// Writes the bias per row to c, and makes the product add to c. This is needed because PanelProduct supports
// a bias per column only.
void StartFromRowBias(const GemmParams& p, int64_t batch, PanelProduct& product) {
  const float* bias = static_cast<const float*>(p.row_bias) + At(p.bias_at, batch);
  for (int64_t i = 0; i < p.m; ++i) {
    float* row = product.c + i * p.c_row;
    for (int64_t j = 0; j < p.n; ++j) row[j] = p.accumulate ? row[j] + bias[i] : bias[i];
  }
  product.accumulate = true;
}

// Computes products [begin, end), one at a time.
void MultiplyInPanels(const GemmParams& p, int64_t begin, int64_t end, void* scratch,
                      const Workers& workers) {
  auto* panels = static_cast<float*>(scratch);
  void* product_scratch = static_cast<char*>(scratch) + PanelMemoryOf(p, workers.threads()).panels;
  for (int64_t i = begin; i < end; ++i) {
    const auto* b = static_cast<const float*>(p.b.data) + At(p.b_at, i);
    if (i == begin || At(p.b_at, i) != At(p.b_at, i - 1))
      PackPanels({b, p.b.row, p.b.column, p.alpha}, p.k, p.n, panels, workers);
    PanelProduct product = ProductOf(p, i, panels);
    if (p.row_bias) StartFromRowBias(p, i, product);
    MultiplyPanels(product, product_scratch, workers);
  }
}

void GemmInPanels(const GemmParams& p, void* scratch, const Workers& workers) {
  if (ThreadsShareProducts(p, workers.threads())) return MultiplyInPanels(p, 0, p.count, scratch, workers);
  const PanelMemory memory = PanelMemoryOf(p, 1);
  const Workers one_thread(1);
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerThread / std::max<int64_t>(1, p.m * p.n * p.k));
  workers.ParallelFor(p.count, grain, [&](int64_t begin, int64_t end, int worker) {
    const auto offset = (memory.panels + memory.product) * static_cast<size_t>(worker);
    MultiplyInPanels(p, begin, end, static_cast<char*>(scratch) + offset, one_thread);
  });
}

}  // namespace

bool GemmTypes(DType a, DType b, DType c_type) {
  const DType compute = ComputeType(c_type);
  if (compute == DType::kInvalid) return false;
  if (IsFloat(c_type)) return a == c_type && b == c_type;
  for (DType t : {a, b}) {
    if (!IsInt(t) || !StoredOf(t)) return false;
    if (compute == DType::kU64 ? BitWidth(t) != 64 : BitWidth(t) > 32) return false;
  }
  return true;
}

size_t GemmScratch(const GemmParams& p, int threads) {
  if (p.m <= 0 || p.n <= 0 || p.count <= 0) return 0;
  if (UsesPanels(p) && WorthTransposing(p)) return TransposedScratch(p, threads);
  if (UsesPanels(p))
    return MostScratch(threads, [&](int n) {
      const bool shared = ThreadsShareProducts(p, n);
      const PanelMemory memory = PanelMemoryOf(p, shared ? n : 1);
      return (memory.panels + memory.product) * static_cast<size_t>(shared ? 1 : n);
    });
  const GemmTable& table = TableOf(ComputeType(p.c_type));
  return MostScratch(threads, [&](int n) {
    return ScratchPerThread(p, table, GridOf(p, table, n)) * static_cast<size_t>(n);
  });
}

void Gemm(const GemmParams& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0 || p.count <= 0) return;
  if (UsesPanels(p) && WorthTransposing(p)) return GemmTransposed(p, scratch, workers);
  if (UsesPanels(p)) return GemmInPanels(p, scratch, workers);
  const GemmTable& table = TableOf(ComputeType(p.c_type));
  const Grid grid = GridOf(p, table, workers.threads());
  const size_t per_thread = ScratchPerThread(p, table, grid);
  const int64_t product_work = p.m * p.n * std::max<int64_t>(p.k, 1);
  const int64_t grain = grid.m_count * grid.n_count > 1
                            ? 1
                            : std::max<int64_t>(1, kMinWorkPerThread / std::max<int64_t>(product_work, 1));
  workers.ParallelFor(
      p.count * grid.m_count * grid.n_count, grain, [&](int64_t begin, int64_t end, int worker) {
        for (int64_t job = begin; job < end; ++job) {
          GemmBlock block = BlockFor(p, grid, job);
          block.scratch = static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker);
          table.run(block);
        }
      });
}

}  // namespace tern::cpu
