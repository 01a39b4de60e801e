#include "runtime/model/precision.h"

namespace tern {

std::optional<Precision> ParsePrecision(std::string_view name) {
  if (name == "fp32") return Precision::kF32;
  if (name == "fast") return Precision::kFast;
  if (name == "bf16") return Precision::kBf16;
  if (name == "auto") return Precision::kAuto;
  return std::nullopt;
}

}  // namespace tern
