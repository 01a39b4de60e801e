// Dispatches by the width of elements, for kernels that only move elements.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace tern::cpu {

struct Wide {
  uint64_t low, high;
};

// Calls f with a value of a type of `width` bytes: 1, 2, 4, 8 or 16.
template <class F> void WithWidth(int width, const F& f) {
  switch (width) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Wide{});
  }
}

// Returns the bytes of an element, or 0 for strings and for types below 8 bits.
inline int WidthOf(DType t) { return BitWidth(t) / 8; }

}  // namespace tern::cpu
