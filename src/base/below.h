// The order of numbers that minima, maxima and bounds take.
#pragma once
#include <cmath>
#include <type_traits>

namespace tern {

// a < b, where -0 is below +0, as in the minimum and maximum of IEEE 754-2019. Nothing is below NaN or above
// it. ONNX leaves open which of two zeros a minimum is, and kernels give either; reference evaluators and
// rules use this order, so that Min, Max, Clip and Relu agree and do not depend on the order of their
// operands.
template <class T> bool Below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  else
    return a < b;
}

}  // namespace tern
