// Magnitudes: the bits of absolute values as integers, for *_simd.cc files. Magnitudes have the same order as
// the absolute values and grow nearly linearly with their logarithms. Infinity and NaN are larger than all
// finite numbers.
#pragma once
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;

inline Ints MagnitudesOf(Vector<float> v) { return Ints(v) & 0x7fffffff; }
inline Ints Larger(Ints a, Ints b) { return a > b ? a : b; }

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
