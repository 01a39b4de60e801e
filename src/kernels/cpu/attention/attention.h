// Scaled dot-product attention in f32, blocked with an online softmax.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Strides of a tensor with the axes batch, head, row and feature, in elements. The features of a row are
// contiguous.
struct HeadStrides {
  int64_t batch = 0, head = 0, row = 0;
  static HeadStrides Split(int64_t heads, int64_t length, int64_t size) {  // [batch, heads, length, size]
    return {heads * length * size, length * size, size};
  }
  static HeadStrides Packed(int64_t heads, int64_t length, int64_t size) {  // [batch, length, heads*size]
    return {heads * length * size, size, heads * size};
  }
  int64_t At(int64_t b, int64_t h, int64_t i) const { return b * batch + h * head + i * row; }
};

// `size` is the number of features of queries and keys; `value_size` is the number of features of values.
struct AttentionShape {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, size = 0, value_size = 0;
  int64_t past = 0;  // with the causal mask, query i attends to keys 0 to past + i
  float scale = 1, softcap = 0;
  bool causal = false;
  bool guarded = false;  // whether rows whose probabilities are NaN become zeros
  bool bool_mask = false;
  // Type of the operands of both products; scores and probabilities are f32. With bf16 operands, the rows of
  // V are multiplied in pairs. If the number of visible keys is odd, the row of V after the last visible key
  // is multiplied by zero, so its elements must be finite. If there are fewer than 4 queries, the operands
  // are f32.
  Operands operands = Operands::kF32;
  HeadStrides q, k, v, y;
  // Dims of the mask. The last dim is 0 if there is no mask. If it is 1, the mask broadcasts to all keys.
  // Otherwise, keys with an index of mask[3] or more are masked.
  std::array<int64_t, 4> mask{0, 0, 0, 0};
};

// q contains `heads` matrices [queries, size] per batch entry. k and v contain `kv_heads` matrices [keys,
// size] and [keys, value_size]. AttentionShape has their strides.
struct AttentionTensors {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const void* mask = nullptr;        // an f32 mask is added to the scores; in a bool mask, false masks a key
  const int64_t* lengths = nullptr;  // number of valid keys per batch entry, or null
  const int32_t* short_lengths = nullptr;  // `lengths` as i32 instead of i64, or null
  float* y = nullptr;                      // `heads` matrices [queries, value_size]
};

// Returns the bytes of scratch memory that ComputeAttention needs with this number of threads.
size_t AttentionScratch(const AttentionShape& s, int threads);
void ComputeAttention(const AttentionShape& s, const AttentionTensors& t, void* scratch,
                      const Workers& workers);

}  // namespace tern::cpu
