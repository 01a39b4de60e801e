// c = epilogue(a·b) for 8-bit a and b, with sums in i32. b contains weights and is packed into panels once.
// Results do not depend on the number of threads nor on the instruction set.
#pragma once
#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/cpu/byte/byte_epilogue.h"

namespace tern::cpu {

// Packed weights are bytes: first the i32 sums of the columns, n of them, then the panels. The layout depends
// on the active instruction set.
int64_t BytePackedSize(int64_t k, int64_t n);  // in bytes
// Packs b[k, n] with strides in elements. FitsI8(b, row, column, k, n) must be true.
void PackBytes(const ByteWeights& b, int64_t row, int64_t column, int64_t k, int64_t n, int8_t* packed,
               const Workers& workers);
// Returns the sum of b - zero of every column. `packed` is what PackBytes or the Pack functions of
// convolutions have written.
inline const int32_t* WeightSums(const int8_t* packed) { return reinterpret_cast<const int32_t*>(packed); }
// Returns the panels in packed weights of n columns.
inline const int8_t* BytePanels(const int8_t* packed, int64_t n) {
  return packed + (n * static_cast<int64_t>(sizeof(int32_t)) + 63) / 64 * 64;
}

// The number of columns of a panel, at the active instruction set.
int64_t BytePanelColumns();
// Returns k rounded up to the dwords of packed panels, which contain two or four elements.
int64_t BytePanelDepth(int64_t k);
// Returns the offset of the panel that begins with column n, a multiple of BytePanelColumns(), in bytes.
int64_t BytePanelOffset(int64_t k, int64_t n);

struct ByteGemm {
  int64_t m = 0, n = 0, k = 0;  // k must be at most kMaxByteDepth
  const void* a = nullptr;
  DType a_type = DType::kU8;       // u8 or i8; with i8, rows are copied and 128 is added
  int64_t a_row = 0;               // row stride in elements; the elements of a row are contiguous
  const int8_t* panels = nullptr;  // BytePanels(packed, n)
  void* c = nullptr;               // 8 bits, f32 or i32, see ByteEpilogue::output
  int64_t c_row = 0;               // in elements
  ByteEpilogue epilogue;
};

size_t ByteGemmScratch(const ByteGemm& p, int threads);  // bytes; depends on sizes, types and strides
void MultiplyBytes(const ByteGemm& p, void* scratch, const Workers& workers);

}  // namespace tern::cpu
