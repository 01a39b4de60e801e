// Inner loops of attention: the softmax between the two products, and both products if there are few queries.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// A block of scores [rows, keys] for an online softmax. Probabilities are not normalized. The caller divides
// y by their sum after the last block of keys. Each block of keys updates `top` and `sum` of each row.
struct ScoreBlock {
  float* scores = nullptr;
  int64_t row = 0;  // row stride in elements, a multiple of the vector length
  int64_t rows = 0, keys = 0;
  float softcap = 0;  // 0 means no softcap
  // The mask. At most one of `mask` and `shown` is set. `mask` has floats that are added to scores. `shown`
  // has bytes, of which 0 masks a key. mask_row is the row stride. mask_step is 1, or 0 if all keys of a row
  // share one element.
  const float* mask = nullptr;
  const uint8_t* shown = nullptr;
  int64_t mask_row = 0, mask_step = 1;
  // Row i attends only to keys [0, seen + i * seen_step) of the block.
  int64_t seen = 0, seen_step = 0;
  // Arrays with one element per row. `top` is the largest score so far, and `sum` is the sum of probabilities
  // so far. `rescale` is the factor that rescales earlier results to the new `top`.
  float *top = nullptr, *sum = nullptr, *rescale = nullptr;
  bool first = true;  // whether this is the first block of keys
};

struct AttentionTable {
  void (*probabilities)(const ScoreBlock& block);
  // Multiplies row i of y by factors[i]. If `guarded`, a row whose factor is NaN or infinite becomes zero.
  // `row` is the row stride of y.
  void (*scale)(float* y, int64_t row, int64_t rows, int64_t n, const float* factors, bool guarded);
  // scores[j] = factor * (q · k[j]), where k[j] is row j of k.
  void (*dots)(const float* q, const float* k, int64_t k_row, int64_t keys, int64_t size, float factor,
               float* scores);
  // Sets y to the sum of p[j] * v[j], where v[j] is row j of v. If `accumulate`, adds the sum to y instead.
  void (*combine)(const float* p, const float* v, int64_t v_row, int64_t keys, int64_t size, bool accumulate,
                  float* y);
};
TERN_SIMD_TABLE(AttentionTable, AttentionSimd)

}  // namespace tern::cpu
