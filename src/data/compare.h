// Whether two results agree, and how far apart they are.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::data {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-4;
  double of_largest = 0;  // of the tensor's largest finite |wanted|; adds to what is absolute
};

struct Comparison {
  std::string difference;  // empty: equal within the tolerance
  double max_abs = 0;      // largest |got - wanted| over the float elements
  double max_rel = 0;      // largest |got - wanted| / |wanted| where wanted is not 0
  double largest = 0;      // largest finite |wanted| over the float elements
  int64_t elements = 0, wrong = 0;
};

// Same kind, type and dims; floats within |got - wanted| <= absolute + of_largest * max |wanted| + relative *
// |wanted|, NaN equal to NaN; everything else exactly.
Comparison Compare(const Datum& got, const Datum& wanted, const Tolerance& tolerance);

}  // namespace tern::data
