// What a scatter does where something stands already.
#pragma once
#include "core/tensor.h"

namespace tern {

enum class ScatterReduction { kNone, kAdd, kMul, kMin, kMax };

template <class V> void VisitReduction(V& v, ScatterReduction& reduction) {
  v.Enum("reduction", reduction, {"none", "add", "mul", "min", "max"},
         "how an update joins what is there; none replaces");
}

// Elements [at, at + count) of y take in elements [from, from + count) of updates. Strings can only be
// replaced.
void ScatterRun(ScatterReduction reduction, const Tensor& updates, int64_t from, Tensor& y, int64_t at,
                int64_t count);

// Types a reduction can work on.
Status CheckReducible(ScatterReduction reduction, DType dtype);

}  // namespace tern
