// Attention per head.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Where a head's rows lie, in elements; the features of a row are neighbours.
struct HeadSteps {
  int64_t batch = 0, head = 0, row = 0;
  static HeadSteps Split(int64_t heads, int64_t length, int64_t size) {  // [batch, heads, length, size]
    return {heads * length * size, length * size, size};
  }
  static HeadSteps Packed(int64_t heads, int64_t length, int64_t size) {  // [batch, length, heads*size]
    return {heads * length * size, size, heads * size};
  }
  int64_t At(int64_t b, int64_t h, int64_t i) const { return b * batch + h * head + i * row; }
};

struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, size = 0, value_size = 0;
  int64_t past = 0;  // keys before the first query, for the causal mask
  float scale = 1, softcap = 0;
  bool causal = false;
  bool guarded = false;  // a row of probabilities that is NaN becomes zero
  bool bool_mask = false;
  // Operands of both products; scores and probabilities are f32 either way. In bf16 an odd number of keys
  // that are seen meets the value behind them too, with a probability of zero. Few queries are computed in
  // f32.
  Operands operands = Operands::kF32;
  HeadSteps q, k, v, y;
  std::array<int64_t, 4> mask{
      0, 0, 0, 0};  // dims of the mask; last 0: none. Keys beyond its end are hidden, unless it is 1
};

// q has heads of queries × size, k and v kv_heads of keys × size and keys × value_size; laid out as the steps
// say.
struct AttentionTensors {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const void* mask = nullptr;              // f32 added to scores, or bool: true is seen
  const int64_t* lengths = nullptr;        // keys that count, per batch; or null
  const int32_t* short_lengths = nullptr;  // the same as i32
  float* y = nullptr;                      // heads of queries × value_size
};

size_t AttentionScratch(const AttentionShape& s, int threads);
void ComputeAttention(const AttentionShape& s, const AttentionTensors& t, void* scratch,
                      const Workers& workers);

}  // namespace tern::cpu
