#include "kernels/cpu/conv/winograd-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

struct StoreAsBf16 {
  static void At(float* to, int64_t channel, Floats v) { StoreBf16(to + channel / 2, v); }
};

}  // namespace

const WinogradBf16Table kWinogradBf16Simd = {Input<Sizes<2, 3>, StoreAsBf16>, Output<Sizes<2, 3>, true>};

}  // namespace tern::cpu::TERN_SIMD
