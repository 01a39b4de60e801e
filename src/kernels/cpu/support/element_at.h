// Addresses in arrays that are f32 or bf16 in memory. *_simd.cc files must not include this header, see
// simd/simd.h.
#pragma once
#include <cstdint>
#include <type_traits>

namespace tern::cpu {

// Returns the address of an element. If `bf16`, elements have two bytes, although the pointer is to a 32-bit
// type.
template <class T> inline T* ElementAt(T* p, int64_t elements, bool bf16) {
  static_assert(sizeof(T) == 4);
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return bf16 ? reinterpret_cast<T*>(reinterpret_cast<Byte*>(p) + 2 * elements) : p + elements;
}

}  // namespace tern::cpu
