// Inner loops of attention: what happens to scores between the two products, and products of few rows.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// A block of scores [rows, keys] on its way to probabilities that are not divided by their sum yet: y, which
// is made with them, is divided at the end. Keys may come in several blocks; what has been seen of a row so
// far is its largest score and its sum.
struct ScoreBlock {
  float* scores = nullptr;
  int64_t row = 0;  // elements from row to row: whole vectors
  int64_t rows = 0, keys = 0;
  float softcap = 0;  // 0: none
  // Added to scores, or bytes of which 0 hides a key; one of the two, or none. `mask_row` elements from row
  // to row, `mask_step` 0 or 1 from key to key.
  const float* mask = nullptr;
  const uint8_t* shown = nullptr;
  int64_t mask_row = 0, mask_step = 1;
  // Row i sees keys below seen + i * seen_step only.
  int64_t seen = 0, seen_step = 0;
  // Of each row: the largest score, the sum of probabilities, and what earlier sums and results are to be
  // multiplied with.
  float *top = nullptr, *sum = nullptr, *fade = nullptr;
  bool first = true;
};

struct AttentionTable {
  void (*probabilities)(const ScoreBlock& block);
  // Rows of y times factors[row]; a row whose factor is not a number becomes zero if `guarded`.
  void (*scale)(float* y, int64_t row, int64_t rows, int64_t n, const float* factors, bool guarded);
  // scores[j] = factor * (q · k[j]) for rows of k.
  void (*dots)(const float* q, const float* k, int64_t k_row, int64_t keys, int64_t size, float factor,
               float* scores);
  // y (+)= sum of p[j] * v[j].
  void (*combine)(const float* p, const float* v, int64_t v_row, int64_t keys, int64_t size, bool accumulate,
                  float* y);
};
TERN_SIMD_TABLE(AttentionTable, AttentionSimd)

}  // namespace tern::cpu
