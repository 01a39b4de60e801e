// Compares results within a tolerance and measures their difference.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::data {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-4;
  double of_largest = 0;       // `absolute` grows by of_largest times the tensor's largest finite |wanted|
  double least_magnitude = 0;  // `relative` is multiplied by max(|wanted|, least_magnitude)
};

struct Comparison {
  std::string difference;  // empty if the data are equal within the tolerance
  double max_abs = 0;      // largest finite |got - wanted| of all float elements
  double max_rel = 0;      // largest |got - wanted| / |wanted| where wanted is not 0
  double largest = 0;      // largest finite |wanted| of all float elements
  int64_t elements = 0, wrong = 0;
};

// Compares kind, type, dims and elements. Two floats are equal if
//   |got - wanted| <= absolute + of_largest * largest + relative * max(|wanted|, least_magnitude)
// where `largest` is the largest finite |wanted| of the tensor. NaN equals NaN. Elements of other types must
// be exactly equal.
Comparison Compare(const Datum& got, const Datum& wanted, const Tolerance& tolerance);

}  // namespace tern::data
