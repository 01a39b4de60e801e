// Recurrent layers over a sequence [length, batch, features], in f32. Matrix products may round their
// operands to bf16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/kinds.h"
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

enum class RnnCellKind : int { kRnn, kGru, kLstm };
inline constexpr const char* kRnnNames[] = {"rnn", "gru", "lstm"};

struct RnnFunction {
  UnaryKind kind = UnaryKind::kTanh;
  float alpha = 0, beta = 0;
};

struct RnnShape {
  RnnCellKind kind = RnnCellKind::kLstm;
  Operands operands = Operands::kF32;
  int64_t length = 0, batch = 0, features = 0, hidden = 0;
  int64_t directions = 1;
  bool reverse = false;  // the first direction runs backward; the second direction always does
  float clip = 0;        // 0 means no clipping
  bool linear_before_reset = false, input_forget = false;
  std::vector<RnnFunction> functions;  // of each direction: 1 function for rnn, 2 for gru, 3 for lstm

  int64_t gates() const { return kind == RnnCellKind::kRnn ? 1 : kind == RnnCellKind::kGru ? 3 : 4; }
};

// These functions pack w [dir, gates*hidden, features] and r [dir, gates*hidden, hidden] for the products.
// The packed weights depend only on kind, operands, features, hidden and directions of the shape. Sizes are
// in dwords (4 bytes).
int64_t RnnInputSize(const RnnShape& s);
int64_t RnnStateSize(const RnnShape& s);
void PackRnnInput(const RnnShape& s, const float* w, float* to, const Workers& workers);
void PackRnnState(const RnnShape& s, const float* r, float* to, const Workers& workers);

// All tensors except x, w and r may be null. b is [dir, 2*gates*hidden], p is [dir, 3*hidden], y is [length,
// dir, batch, hidden], and states are [dir, batch, hidden].
struct RnnTensors {
  const float* x = nullptr;
  const float *w = nullptr, *r = nullptr;  // packed
  const float *b = nullptr, *h0 = nullptr, *c0 = nullptr, *p = nullptr;
  const void* lengths = nullptr;  // `batch` integers in [0, length], or null
  bool wide_lengths = false;      // lengths are i64 instead of i32
  float *y = nullptr, *y_h = nullptr, *y_c = nullptr;
};

size_t RnnScratch(const RnnShape& s, int threads);
void RnnF32(const RnnShape& s, const RnnTensors& t, void* scratch, const Workers& workers);

}  // namespace tern::cpu
