#include "runtime/model/precision.h"

#include "base/selection.h"
#include "runtime/bind/cpu_target.h"

namespace tern {

bool UsesBf16(Precision precision, const Target& target) {
  if (!kHasBf16Kernels) return false;
  return precision == Precision::kAuto ? target.fast_bf16() : precision == Precision::kBf16;
}

Rounding RoundingOf(Precision precision, const Target& target) {
  const bool bf16 = UsesBf16(precision, target);
  return {bf16, bf16 || precision == Precision::kFast};
}

bool UsesBf16(Precision precision) { return UsesBf16(precision, DefaultTarget()); }

}  // namespace tern
