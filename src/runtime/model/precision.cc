#include "runtime/model/precision.h"

#include "kernels/cpu/simd/bf16.h"

namespace tern {

std::optional<Precision> ParsePrecision(std::string_view name) {
  if (name == "fp32") return Precision::kF32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "auto") return Precision::kAuto;
  return std::nullopt;
}

bool UsesBf16(Precision precision) {
  if (precision != Precision::kAuto) return precision == Precision::kBf16;
  return cpu::ActiveBf16Products();
}

}  // namespace tern
