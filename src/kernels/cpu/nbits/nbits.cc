#include "kernels/cpu/nbits/nbits.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/nbits/digits_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kFewRowsJobBytes = 64 << 10;  // bytes of weights that a job with few rows reads
constexpr int64_t kCopyGrain = 1 << 15;         // elements that a job copies
constexpr int64_t kManyRowsJob = 192;           // rows of `a` per job of a product that unpacks panels

NBitsPanel PanelAt(const NBitsLayout& l, const uint8_t* packed, int64_t panel) {
  NBitsPanel p;
  p.records = packed + panel * l.panel_bytes();
  p.record_bytes = l.record_bytes(), p.zeros_at = l.zeros_at(), p.data_at = l.data_at();
  p.depth = l.depth(), p.step = l.step(), p.block = l.block ? l.block : std::max<int64_t>(l.depth(), 1);
  p.bits = l.bits, p.f16_scales = l.f16_scales, p.has_zeros = l.has_zeros;
  p.zero = static_cast<float>(l.zero);
  return p;
}

// The scratch memory of a product of few rows.
struct FewRows {
  FewRows(const NBitsLayout& l, int64_t m, void* scratch) : depth(l.depth()), steps(depth / l.step()) {
    auto* at = static_cast<char*>(scratch);
    const auto take = [&](size_t count, size_t size) {
      char* const start = at;
      at += Aligned(count * size);
      bytes += Aligned(count * size);
      return start;
    };
    const auto rows = static_cast<size_t>(m), floats = static_cast<size_t>(steps);
    if (l.k != depth) a = reinterpret_cast<float*>(take(rows * static_cast<size_t>(depth), sizeof(float)));
    sums = reinterpret_cast<float*>(take(rows * floats, sizeof(float)));
    scales = reinterpret_cast<float*>(take(rows * floats, sizeof(float)));
    digits = reinterpret_cast<int8_t*>(take(rows * kDigits * static_cast<size_t>(depth), 1));
  }
  NBitsRow Row(int64_t i) const {
    return {digits + i * kDigits * depth, scales + i * steps, sums + i * steps};
  }

  int64_t depth, steps;
  float *a = nullptr, *sums = nullptr, *scales = nullptr;
  int8_t* digits = nullptr;
  size_t bytes = 0;
};

// Returns the rows of a, padded to the depth of the panels.
const float* PaddedRows(const NBitsProduct& p, const FewRows& rows) {
  if (!rows.a) return p.a;
  const int64_t k = p.layout.k;
  for (int64_t i = 0; i < p.m; ++i) {
    float* to = rows.a + i * rows.depth;
    if (k > 0) std::memcpy(to, p.a + i * k, static_cast<size_t>(k) * sizeof(float));
    std::fill(to + k, to + rows.depth, 0.0f);
  }
  return rows.a;
}

// Applies the epilogue to `count` columns from n0 on, of rows [m0, m1).
void Finish(const NBitsProduct& p, int64_t m0, int64_t m1, int64_t n0, int64_t count) {
  if (!p.epilogue || p.epilogue->empty()) return;
  const int64_t n = p.layout.n, index = m0 * n + n0;
  p.epilogue->Apply(count == n ? Epilogue::Rows{1, (m1 - m0) * n, index, 0, p.c + index, 0}
                               : Epilogue::Rows{m1 - m0, count, index, n, p.c + index, n});
}

int64_t UnpackedDepth(const NBitsLayout& l) { return EvenPartSize(l.k, kMaxPanelDepth, l.step()); }

// Rows of `a`, with their stride in elements.
struct RowsOfA {
  const float* a = nullptr;
  int64_t stride = 0;
};

// Multiplies rows [m0, m1) by one panel, which is unpacked to `unpacked` in parts.
void MultiplyUnpacked(const NBitsProduct& p, const RowsOfA& a, int64_t m0, int64_t m1, int64_t panel,
                      float* unpacked) {
  const NBitsTable& table = NBitsSimd();
  const NBitsLayout& l = p.layout;
  const NBitsPanel source = PanelAt(l, p.packed, panel);
  const int64_t n0 = panel * table.columns, depth = UnpackedDepth(l);
  PanelProduct product;
  product.m = m1 - m0, product.n = std::min<int64_t>(table.columns, l.n - n0);
  product.a_row = a.stride, product.panels = unpacked;
  product.c = p.c + m0 * l.n + n0, product.c_row = l.n;
  const Workers one_thread(1);
  for (int64_t k0 = 0; k0 < std::max<int64_t>(l.k, 1); k0 += depth) {
    product.k = std::min(depth, l.k - k0);
    table.unpack(source, k0, k0 + product.k, unpacked);
    product.a = a.a + m0 * a.stride + k0;
    product.accumulate = k0 > 0;
    product.tile.bias = p.bias && k0 + depth >= l.k ? p.bias + n0 : nullptr;
    MultiplyPanels(product, nullptr, one_thread);
  }
  Finish(p, m0, m1, n0, product.n);
}

size_t UnpackedBytes(const NBitsLayout& l) {
  return Aligned(static_cast<size_t>(UnpackedDepth(l) * NBitsSimd().columns) * sizeof(float));
}

// Whether rows are copied first, because they collide in the L1 cache.
bool CopiesRows(const NBitsProduct& p) {
  return p.m > kFewNBitsRows && p.layout.k > 0 && Collide(p.layout.k);
}

RowsOfA CopiedRows(const NBitsProduct& p, float* to, const Workers& workers) {
  const int64_t k = p.layout.k, stride = PaddedRow(k);
  workers.ParallelFor(p.m, std::max<int64_t>(1, kCopyGrain / k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(p.a + i * k, k, to + i * stride);
  });
  return {to, stride};
}

void MultiplyManyRows(const NBitsProduct& p, void* scratch, const Workers& workers) {
  const EvenSplit rows(p.m, kManyRowsJob);
  const int64_t panels = p.layout.panels();
  const size_t per_thread = UnpackedBytes(p.layout);
  auto* copy = reinterpret_cast<float*>(static_cast<char*>(scratch) +
                                        per_thread * static_cast<size_t>(workers.threads()));
  const RowsOfA a = CopiesRows(p) ? CopiedRows(p, copy, workers) : RowsOfA{p.a, p.layout.k};
  workers.ParallelFor(rows.parts() * panels, 1, [&](int64_t begin, int64_t end, int worker) {
    auto* unpacked =
        reinterpret_cast<float*>(static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker));
    for (int64_t job = begin; job < end; ++job) {
      const int64_t part = job / panels, m0 = rows.Start(part);
      MultiplyUnpacked(p, a, m0, m0 + rows.Size(part), job % panels, unpacked);
    }
  });
}

// How the rows of `a` are multiplied.
enum class Method { kDigits, kFloats, kUnpack };

// Prepares the rows of `a`, which are padded.
Method PrepareRows(const NBitsProduct& p, const float* a, const FewRows& memory) {
  const NBitsTable& table = NBitsSimd();
  const int64_t step = p.layout.step();
  bool digits = p.m <= kMaxDigitRows && DigitsSimd().multiply[1], floats = true;
  for (int64_t i = 0; digits && i < p.m; ++i)
    digits = table.to_digits(a + i * memory.depth, memory.steps, step, memory.Row(i));
  if (digits) return Method::kDigits;
  for (int64_t i = 0; floats && i < p.m; ++i)
    floats = table.sums(a + i * memory.depth, memory.steps, step, memory.Row(i).sums);
  return floats ? Method::kFloats : Method::kUnpack;
}

void MultiplyFewRows(const NBitsProduct& p, void* scratch, const Workers& workers) {
  const NBitsTable& table = NBitsSimd();
  const NBitsLayout& l = p.layout;
  const FewRows memory(l, p.m, scratch);
  const float* a = PaddedRows(p, memory);
  const Method method = PrepareRows(p, a, memory);
  if (method == Method::kUnpack) return MultiplyManyRows(p, scratch, workers);
  NBitsRow rows[kFewNBitsRows];
  for (int64_t i = 0; i < p.m; ++i) rows[i] = memory.Row(i);
  const auto* multiply = method == Method::kDigits ? DigitsSimd().multiply : table.multiply;
  const EvenSplit tiles(p.m, kMaxNBitsRows);
  const auto run = [&](int64_t panel, int64_t tile) {
    const int64_t row = tiles.Start(tile), n0 = panel * table.columns;
    NBitsTile t;
    t.panel = PanelAt(l, p.packed, panel);
    t.a = a + row * memory.depth, t.sums = memory.sums + row * memory.steps, t.rows = rows + row;
    t.bias = p.bias ? p.bias + n0 : nullptr;
    t.c = p.c + row * l.n + n0, t.c_row = l.n;
    t.columns = std::min<int64_t>(table.columns, l.n - n0);
    multiply[tiles.Size(tile)](t);
  };
  const int64_t panel_bytes = std::max<int64_t>(l.panel_bytes(), 64);
  const int64_t per_job = std::clamp<int64_t>(kFewRowsJobBytes / panel_bytes, 1, l.panels());
  workers.ParallelFor(CeilDiv(l.panels(), per_job), 1, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * per_job, last = std::min(end * per_job, l.panels());
    for (int64_t panel = first; panel < last; ++panel)
      for (int64_t tile = 0; tile < tiles.parts(); ++tile) run(panel, tile);
    const int64_t n0 = first * table.columns;
    Finish(p, 0, p.m, n0, std::min(last * table.columns, l.n) - n0);
  });
}

}  // namespace

size_t NBitsScratch(const NBitsProduct& p, int threads) {
  const size_t unpacked = UnpackedBytes(p.layout) * static_cast<size_t>(threads);
  if (p.m > kFewNBitsRows)
    return unpacked + (CopiesRows(p) ? static_cast<size_t>(p.m * PaddedRow(p.layout.k)) * sizeof(float) : 0);
  return std::max(FewRows(p.layout, p.m, nullptr).bytes, unpacked);
}

void MultiplyNBits(const NBitsProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.layout.n <= 0) return;
  if (p.m <= kFewNBitsRows)
    MultiplyFewRows(p, scratch, workers);
  else
    MultiplyManyRows(p, scratch, workers);
}

}  // namespace tern::cpu
