// Dynamic quantization: c = epilogue(a·b + bias) in f32, where the rows of `a` are rounded to 8 bits in every
// product, and b consists of 8-bit weights with one scale per column. Sums are exact integers, and results do
// not depend on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/epilogue.h"

namespace tern::cpu {

// Packed weights are bytes: what PackBytes writes (kernels/cpu/byte/byte_panels.h), then one f32 scale per
// column, then one i32 per column that compensates the offset 128 of the rounded rows.
int64_t DynamicPackedSize(int64_t k, int64_t n);
// Packs b[k, n] of i8 with strides in elements. k must be at most kMaxByteDepth.
void PackDynamic(const int8_t* b, int64_t row, int64_t column, int64_t k, int64_t n, uint8_t* packed,
                 const Workers& workers);
// Returns the scales of packed weights, which the caller sets.
float* DynamicScales(uint8_t* packed, int64_t k, int64_t n);

struct DynamicProduct {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // [m, k]
  const uint8_t* packed = nullptr;
  float* c = nullptr;                  // [m, n]
  const float* bias = nullptr;         // one per column
  const Epilogue* epilogue = nullptr;  // element 0 of its result is at `c`
};
size_t DynamicScratch(const DynamicProduct& p, int threads);  // bytes; depends on sizes only
void MultiplyDynamic(const DynamicProduct& p, void* scratch, const Workers& workers);

// Rounds each of m rows of k elements to 8 bits, and writes the numbers that these represent.
void RoundRows(const float* a, int64_t m, int64_t k, float* rounded, const Workers& workers);

}  // namespace tern::cpu
