#include "runtime/precision.h"

#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"

namespace tern {

std::optional<Precision> ParsePrecision(std::string_view name) {
  if (name == "fp32") return Precision::kF32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "auto") return Precision::kAuto;
  return std::nullopt;
}

bool UsesBf16(Precision precision) {
  if (precision != Precision::kAuto) return precision == Precision::kBf16;
  return cpu::ActiveSimd() == cpu::SimdLevel::kAvx512 && cpu::ActiveBf16Products();
}

}  // namespace tern
