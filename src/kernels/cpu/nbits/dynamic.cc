#include "kernels/cpu/nbits/dynamic.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/nbits/rows_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per job
constexpr int64_t kChunk = 2048;     // columns that are scaled and finished while they are in the L1 cache

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

ByteGemm GemmOf(const DynamicProduct& p, const uint8_t* rows) {
  ByteGemm g;
  g.m = p.m, g.n = p.n, g.k = p.k;
  g.a = rows, g.a_type = DType::kU8, g.a_row = RoundUp(p.k, 4);
  if (p.packed) g.panels = BytePanels(reinterpret_cast<const int8_t*>(p.packed), p.n);
  g.c = p.c, g.c_row = p.n;
  g.epilogue.output = ByteOutput::kF32;
  if (!p.packed) return g;
  g.epilogue.scale = reinterpret_cast<const float*>(p.packed + ScalesAt(p.k, p.n));
  g.epilogue.bias = reinterpret_cast<const int32_t*>(p.packed + OffsetsAt(p.k, p.n));
  return g;
}

size_t RowBytes(const DynamicProduct& p) { return Aligned(static_cast<size_t>(p.m * RoundUp(p.k, 4))); }
size_t ScaleBytes(const DynamicProduct& p) { return Aligned(static_cast<size_t>(p.m) * sizeof(float)); }

// Multiplies the sums of row i by the row's scale, adds the bias, and applies the epilogue.
void FinishRow(const DynamicProduct& p, int64_t i, float scale) {
  for (int64_t n0 = 0; n0 < p.n; n0 += kChunk) {
    const int64_t count = std::min(kChunk, p.n - n0);
    float* c = p.c + i * p.n + n0;
    const float* bias = p.bias ? p.bias + n0 : nullptr;
    for (int64_t j = 0; j < count; ++j) c[j] = bias ? c[j] * scale + bias[j] : c[j] * scale;
    if (p.epilogue && !p.epilogue->empty()) p.epilogue->Apply(i * p.n + n0, count, c);
  }
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
  return RowBytes(p) + ScaleBytes(p) + ByteGemmScratch(GemmOf(p, nullptr), threads);
}

void MultiplyDynamic(const DynamicProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0 || p.n <= 0) return;
  auto* rows = static_cast<uint8_t*>(scratch);
  auto* scales = reinterpret_cast<float*>(rows + RowBytes(p));
  const RowsTable& table = RowsSimd();
  const int64_t stride = RoundUp(p.k, 4);
  workers.ParallelFor(p.m, GrainOf(p.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const RowScale scale = ScaleFor(table.largest(p.a + i * p.k, p.k));
      scales[i] = scale.scale;
      uint8_t* row = rows + i * stride;
      table.to_bytes(p.a + i * p.k, p.k, scale.inverse, reinterpret_cast<int8_t*>(row));
      for (int64_t j = 0; j < p.k; ++j) row[j] ^= 128;
      std::fill(row + p.k, row + stride, uint8_t{0});
    }
  });
  MultiplyBytes(GemmOf(p, rows), rows + RowBytes(p) + ScaleBytes(p), workers);
  workers.ParallelFor(p.m, GrainOf(p.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) FinishRow(p, i, scales[i]);
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
        table.to_bytes(a + i * k + j, count, scale.inverse, bytes);
        table.to_floats(bytes, count, scale.scale, rounded + i * k + j);
      }
    }
  });
}

}  // namespace tern::cpu
