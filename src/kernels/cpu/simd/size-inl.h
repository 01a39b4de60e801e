// Sizes of numbers as the bits of their absolute values, for *_simd.cc files: they are in order, about
// logarithms, and what is not finite is larger than all that is.
#pragma once
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;

inline Ints SizesOf(Vector<float> v) { return Ints(v) & 0x7fffffff; }
inline Ints Larger(Ints a, Ints b) { return a > b ? a : b; }

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
