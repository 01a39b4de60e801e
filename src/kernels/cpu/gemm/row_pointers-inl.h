// Addresses of the rows of a register tile, for *_simd.cc files.
#pragma once
#include <cstdint>

namespace tern::cpu::TERN_SIMD {
namespace {

// Hides the value of p from the optimizer. Otherwise the compiler keeps one pointer per row, which needs more
// registers than the CPU has. If the value is hidden, the compiler uses the addressing mode base + row
// stride.
template <class T> inline void Hide(T& p) {
#if defined(__x86_64__)
  asm volatile("" : "+r"(p));
#else
  (void)p;
#endif
}

// Pointers to R rows of 32-bit values, in groups of three: base, base + step, base + 2 * step. `step` is the
// stride of rows in bytes.
template <class Dword, int R> struct RowPointers {
  static_assert(sizeof(Dword) == 4);
  static constexpr int kGroups = (R + 2) / 3;
  const char* base[kGroups];
  int64_t step;

  RowPointers(const void* a, int64_t stride) : step(stride) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) base[g] = static_cast<const char*>(a) + 3 * g * stride;
  }
  void Settle() {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) Hide(base[g]);
    Hide(step);
  }
  Dword At(int row, int64_t k) const {
    Dword v;
    __builtin_memcpy(&v, base[row / 3] + (row % 3) * step + k * 4, 4);
    return v;
  }
  void Advance(int64_t k) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) base[g] += k * 4;
  }
};

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
