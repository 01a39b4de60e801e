// The exponentials of softmax, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/sum-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Returns exp(x) for x <= 0, but 0 instead of numbers below 2e-35. Some processors take 100 cycles and more
// for an operation with a subnormal result. Masked scores would have such exponentials, or such quotients by
// their sum.
inline Floats ExpOrZero(Floats x) {
  constexpr float kLeast = -80.f;
  return x < kLeast ? Floats{} : Exp(AtLeast(x, kLeast));
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
