#include "kernels/cpu/move/rows_copy_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Copies in chunks of N bytes. The last chunk may overlap the one before it. `bytes` must be at least N.
template <int N> inline void CopyChunks(const char* from, char* to, int64_t bytes) {
  int64_t i = 0;
  for (; i + N <= bytes; i += N) __builtin_memcpy(to + i, from + i, N);
  if (i < bytes) __builtin_memcpy(to + bytes - N, from + bytes - N, N);
}

template <int N>
inline void Rows(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t bytes,
                 int64_t count) {
  for (; count > 0; --count, from += from_step, to += to_step) CopyChunks<N>(from, to, bytes);
}

void CopyRows(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t bytes, int64_t count) {
  if (bytes >= kVectorBytes)
    Rows<kVectorBytes>(from, from_step, to, to_step, bytes, count);
  else if (bytes >= 16)
    Rows<16>(from, from_step, to, to_step, bytes, count);
  else if (bytes >= 4)
    Rows<4>(from, from_step, to, to_step, bytes, count);
  else
    Rows<1>(from, from_step, to, to_step, bytes, count);
}

}  // namespace

const RowsCopyTable kRowsCopySimd = {CopyRows};

}  // namespace tern::cpu::TERN_SIMD
