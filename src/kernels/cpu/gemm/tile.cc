#include "kernels/cpu/gemm/tile.h"

#include "kernels/cpu/simd/bf16.h"

namespace tern::cpu {

const TileTable& TileFor(Operands operands) {
  if (operands == Operands::kF32) return TileSimd();
#if defined(__x86_64__)
  if (ActiveSimd() == SimdLevel::kAvx512 && ActiveBf16Products()) return avx512_bf16::kTileBf16Simd;
#endif
  return TileBf16Simd();
}

}  // namespace tern::cpu
