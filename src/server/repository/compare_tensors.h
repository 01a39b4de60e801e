// Compares an output with the output that a golden request expects.
#pragma once
#include "server/core/message.h"

namespace tern::server {

// Two numbers are equal if |a - b| <= absolute + relative * |expected|. NaN equals NaN, and an infinity
// equals itself.
struct Tolerance {
  double absolute = 1e-5, relative = 1e-4;
  bool of_integers = false;  // also applies to integers; if false, they are compared exactly
};

// Fails with a message that names the output, its first wrong element and the number of wrong elements.
// Types and dims must be the same. Texts and bools are compared exactly.
Status CompareTensors(const WireTensor& expected, const WireTensor& actual, const Tolerance& tolerance);

}  // namespace tern::server
