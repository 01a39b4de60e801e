// The order of numbers that Min, Max, Clip and Relu use.
#pragma once
#include <cmath>
#include <type_traits>

namespace tern {

// Returns whether a < b, with -0 < +0 as in the minimum and maximum of IEEE 754-2019. Returns false if a or b
// is NaN. ONNX does not specify whether the minimum of -0 and +0 is -0 or +0, and kernels may return either
// zero. Reference evaluators and rules use this order, so that Min, Max, Clip and Relu agree and do not
// depend on the order of their operands.
template <class T> bool Below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  else
    return a < b;
}

}  // namespace tern
