// c = epilogue(a·b + bias), where a and c are f32 and b consists of weights of 4 or 8 bits, which stay
// quantized in memory: b[i, j] = (q[i, j] - zero) * scale, with one scale and zero point per block of
// consecutive elements along k and per column.
//
// Products of few rows are limited by memory bandwidth, so they read the weights as they are. Products of
// more rows unpack a panel of weights to f32, which stays in the cache, and use the f32 tile.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/epilogue.h"

namespace tern::cpu {

// The layout of packed weights, for the active instruction set. Columns are divided into panels of the width
// of the f32 tile, and a panel consists of one record per block, so that a product reads one stream of
// memory. A record has three parts: one scale per column; if has_zeros, one zero point of one byte per
// column; dwords [block * bits / 32][columns]. Each part is padded to a multiple of 64 bytes. A dword
// contains consecutive elements of k: 4 of 8 bits, or 8 of 4 bits. Of 8 elements, element i is the low nibble
// of byte i if i < 4, else the high nibble of byte i - 4. Stored elements and zero points are unsigned. Half
// of the range is added to signed ones.
struct NBitsLayout {
  int64_t k = 0, n = 0;
  int bits = 4;            // 4 or 8
  int64_t block = 32;      // elements of k per scale; BlockFits must be true
  bool f16_scales = true;  // scales are f16, else f32
  bool has_zeros = false;  // one zero point per scale
  int zero = 8;            // of stored elements; used if !has_zeros

  // Whether the kernels support the size of blocks. 0 means that a block is an entire column.
  static bool BlockFits(int64_t block) { return block == 0 || block == 16 || (block > 0 && block % 32 == 0); }

  int64_t step() const { return block == 16 ? 16 : 32; }  // elements of k that are multiplied at once
  int64_t depth() const { return (k + step() - 1) / step() * step(); }  // k with padding
  int64_t blocks() const { return block ? (k + block - 1) / block : k > 0 ? 1 : 0; }
  int64_t panels() const;
  // Offsets in a record, and sizes, in bytes. The last record of a panel has only the elements up to depth().
  int64_t zeros_at() const;
  int64_t data_at() const;
  int64_t record_bytes() const;
  int64_t panel_bytes() const;
  int64_t bytes() const { return panels() * panel_bytes(); }
};

// Quantized weights as a model stores them. Strides are in elements; a stride of 0 repeats an element.
struct NBitsSource {
  const uint8_t* q = nullptr;  // elements of 4 bits are packed, low nibble first
  bool is_signed = false;
  int64_t k_stride = 0, n_stride = 0;
  const void* scale = nullptr;
  DType scale_type = DType::kF32;    // f32, f16 or bf16
  int64_t scale_k = 0, scale_n = 0;  // strides of scales and zero points
  const uint8_t* zero = nullptr;     // packed like q; must be present if and only if has_zeros
};
void PackNBits(const NBitsLayout& layout, const NBitsSource& source, uint8_t* packed, const Workers& workers);

struct NBitsProduct {
  NBitsLayout layout;
  const uint8_t* packed = nullptr;  // aligned to 64 bytes
  int64_t m = 0;
  const float* a = nullptr;            // [m, k]
  float* c = nullptr;                  // [m, n]
  const float* bias = nullptr;         // one per column
  const Epilogue* epilogue = nullptr;  // element 0 of its result is at `c`
};
size_t NBitsScratch(const NBitsProduct& p, int threads);  // bytes; depends on the layout and m only
void MultiplyNBits(const NBitsProduct& p, void* scratch, const Workers& workers);

// Products of up to this many rows read quantized weights without unpacking them. With VNNI, and up to three
// rows, each row of `a` is represented by integers of 24 bits and one scale per step of k, so that the result
// has the accuracy of f32.
constexpr int64_t kFewNBitsRows = 4;

}  // namespace tern::cpu
