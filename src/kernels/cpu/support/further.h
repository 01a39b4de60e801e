// Arrays that are f32 or bf16 in memory. Not for *_simd.cc files: see simd/simd.h.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tern::cpu {

// Where such an array goes on after so many elements. narrow: they are bf16.
template <class T> inline T* Further(T* p, int64_t elements, bool narrow) {
  static_assert(sizeof(T) == 4);
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return narrow ? reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + 2 * elements) : p + elements;
}

}  // namespace tern::cpu
