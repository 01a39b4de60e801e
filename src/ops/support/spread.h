// Small helpers that reference evaluators of matrix and normalisation ops share.
#pragma once
#include <vector>

#include "ir/infer_context.h"

namespace tern {

// The types a network computes in.
constexpr DTypeSet kRealFloats =
    SetOf(DType::kF32) | SetOf(DType::kF64) | SetOf(DType::kF16) | SetOf(DType::kBF16);

// `values` of shape `from`, repeated to `to` by numpy broadcasting. The shapes must fit.
template <class T> std::vector<T> Spread(const std::vector<T>& values, const Dims& from, const Dims& to) {
  if (from == to) return values;
  std::vector<T> out(static_cast<size_t>(CountOf(to)));
  const size_t lead = to.size() - from.size();
  const Dims steps = ContiguousStrides(from);
  Dims index(to.size(), 0);
  int64_t at = 0;
  for (T& slot : out) {
    slot = values[static_cast<size_t>(at)];
    for (size_t i = to.size(); i-- > 0;) {
      const int64_t step = i >= lead && from[i - lead] != 1 ? steps[i - lead] : 0;
      at += step;
      if (++index[i] < to[i]) break;
      at -= step * to[i];
      index[i] = 0;
    }
  }
  return out;
}

// `from` broadcasts to `to` without changing it; the message names `port`. Unknown sizes pass.
Status CheckSpreads(const char* port, const Shape& from, const Shape& to);
// A vector of `size` elements (either may be unknown).
Status CheckVector(InferContext& c, const char* port, const Dim& size);
// Something added to a result has the result's type, which it makes known where nothing else does.
Status CheckTermType(InferContext& c, const char* port, DType& type);
// Known and different.
bool Differ(const Dim& a, const Dim& b);
// The better known of two sizes that must be equal.
Dim Better(const Dim& a, const Dim& b);

// The result type of products of these: floats must agree and stay; integers narrower than 32 bits give i32.
Result<DType> ProductType(DType a, DType b);

}  // namespace tern
