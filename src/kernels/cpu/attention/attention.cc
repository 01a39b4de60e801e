#include "kernels/cpu/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {
namespace {

constexpr int64_t kScores = 1 << 16;  // elements of the block of scores that one thread works on, if possible

int64_t RowsAtOnce(const AttentionShape& s) {
  return std::clamp<int64_t>(kScores / std::max<int64_t>(1, s.keys), 1, std::max<int64_t>(1, s.queries));
}
int64_t Rounded(int64_t n) { return (n + 15) / 16 * 16; }

GemmParams ScoreProduct(const AttentionShape& s, int64_t rows) {
  GemmParams p;
  p.m = rows, p.n = s.keys, p.k = s.size;
  p.a = {nullptr, DType::kF32, s.q.row, 1};
  p.b = {nullptr, DType::kF32, 1, s.k.row};
  p.c_row = s.keys;
  p.alpha = s.scale;
  return p;
}

GemmParams ValueProduct(const AttentionShape& s, int64_t rows) {
  GemmParams p;
  p.m = rows, p.n = s.value_size, p.k = s.keys;
  p.a = {nullptr, DType::kF32, s.keys, 1};
  p.b = {nullptr, DType::kF32, s.v.row, 1};
  p.c_row = s.y.row;
  return p;
}

size_t GemmBytes(const AttentionShape& s) {
  size_t bytes = 0;
  for (int64_t rows : {RowsAtOnce(s), s.queries % RowsAtOnce(s)})
    bytes = std::max({bytes, GemmScratch(ScoreProduct(s, rows), 1), GemmScratch(ValueProduct(s, rows), 1)});
  return (bytes + 63) / 64 * 64;
}

size_t BytesPerThread(const AttentionShape& s) {
  return static_cast<size_t>(Rounded(RowsAtOnce(s) * s.keys)) * sizeof(float) + GemmBytes(s);
}

void AddMask(const AttentionShape& s, const AttentionTensors& t, int64_t b, int64_t h, int64_t i,
             float* row) {
  const auto at = [](int64_t index, int64_t dim) { return dim == 1 ? 0 : index; };
  const int64_t start =
      ((at(b, s.mask[0]) * s.mask[1] + at(h, s.mask[1])) * s.mask[2] + at(i, s.mask[2])) * s.mask[3];
  const int64_t length = s.mask[3], step = length == 1 ? 0 : 1,
                n = length == 1 ? s.keys : std::min(length, s.keys);
  if (s.bool_mask) {
    const uint8_t* m = static_cast<const uint8_t*>(t.mask) + start;
    for (int64_t j = 0; j < n; ++j) row[j] = m[j * step] ? row[j] : -HUGE_VALF;
  } else {
    const float* m = static_cast<const float*>(t.mask) + start;
    for (int64_t j = 0; j < n; ++j) row[j] += m[j * step];
  }
  std::fill(row + n, row + s.keys, -HUGE_VALF);
}

void FinishRow(const AttentionShape& s, const AttentionTensors& t, int64_t b, int64_t h, int64_t i,
               float* row) {
  if (s.softcap > 0) {
    for (int64_t j = 0; j < s.keys; ++j) row[j] /= s.softcap;
    UnarySimd().f32(UnaryKind::kTanh, row, row, s.keys, 0, 0);
    for (int64_t j = 0; j < s.keys; ++j) row[j] *= s.softcap;
  }
  if (t.mask) AddMask(s, t, b, h, i, row);
  int64_t seen = s.keys;
  if (s.causal) seen = std::min(seen, i + s.past + 1);
  if (t.lengths) seen = std::min(seen, t.lengths[b]);
  if (t.short_lengths) seen = std::min<int64_t>(seen, t.short_lengths[b]);
  std::fill(row + std::max<int64_t>(0, seen), row + s.keys, -HUGE_VALF);
  SoftmaxRow(row, row, s.keys);
  if (s.guarded && s.keys > 0 && std::isnan(row[0])) std::fill(row, row + s.keys, 0.0f);
}

}  // namespace

size_t AttentionScratch(const AttentionShape& s, int threads) {
  return BytesPerThread(s) * static_cast<size_t>(threads);
}

void AttentionF32(const AttentionShape& s, const AttentionTensors& t, void* scratch, const Workers& workers) {
  const int64_t rows = RowsAtOnce(s), blocks = (s.queries + rows - 1) / rows,
                group = s.heads / std::max<int64_t>(1, s.kv_heads);
  const size_t per_thread = BytesPerThread(s);
  const Workers alone(1);
  workers.ParallelFor(s.batch * s.heads * blocks, 1, [&](int64_t begin, int64_t end, int worker) {
    auto* scores =
        reinterpret_cast<float*>(static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker));
    float* rest = scores + Rounded(rows * s.keys);
    for (int64_t job = begin; job < end; ++job) {
      const int64_t head = job / blocks, first = job % blocks * rows,
                    count = std::min(rows, s.queries - first);
      const int64_t b = head / s.heads, h = head % s.heads;
      GemmParams p = ScoreProduct(s, count);
      p.a.data = t.q + s.q.At(b, h, first), p.b.data = t.k + s.k.At(b, h / group, 0), p.c = scores;
      Gemm(p, rest, alone);
      for (int64_t i = 0; i < count; ++i) FinishRow(s, t, b, h, first + i, scores + i * s.keys);
      p = ValueProduct(s, count);
      p.a.data = scores, p.b.data = t.v + s.v.At(b, h / group, 0), p.c = t.y + s.y.At(b, h, first);
      Gemm(p, rest, alone);
    }
  });
}

}  // namespace tern::cpu
