// How a scatter combines an update with the existing element.
#pragma once
#include "core/tensor.h"

namespace tern {

enum class ScatterReduction { kNone, kAdd, kMul, kMin, kMax };

template <class V> void VisitReduction(V& v, ScatterReduction& reduction) {
  v.Enum("reduction", reduction, {"none", "add", "mul", "min", "max"},
         "how an update is combined with the existing element; none replaces it");
}

// Combines elements [from, from + count) of updates into elements [at, at + count) of y. For strings, the
// reduction must be kNone.
void ScatterRun(ScatterReduction reduction, const Tensor& updates, int64_t from, Tensor& y, int64_t at,
                int64_t count);

Status CheckReducible(ScatterReduction reduction, DType dtype);

}  // namespace tern
