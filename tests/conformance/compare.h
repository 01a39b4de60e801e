// Compares a result with what was expected, the way the ONNX backend suite does.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

// Empty when equal: same kind, type and dims, |a - b| <= absolute + relative * |b|, strings and integers exact.
std::string Difference(const Datum& got, const Datum& wanted, const Tolerance& tolerance);

}  // namespace tern
