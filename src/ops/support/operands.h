// Helpers for operands of matrix and normalisation ops.
#pragma once
#include <vector>

#include "ir/infer_context.h"

namespace tern {

// The float types that networks compute in.
constexpr DTypeSet kRealFloats =
    SetOf(DType::kF32) | SetOf(DType::kF64) | SetOf(DType::kF16) | SetOf(DType::kBF16);

// Broadcasts `values` of shape `from` to shape `to`. The shapes must be compatible.
template <class T>
std::vector<T> BroadcastTo(const std::vector<T>& values, const Dims& from, const Dims& to) {
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

// Fails unless `from` broadcasts to `to`; the message names `port`. Unknown sizes pass.
Status CheckBroadcastsTo(const char* port, const Shape& from, const Shape& to);
// Fails unless the input is a vector of `size` elements; either may be unknown.
Status CheckVector(InferContext& c, const char* port, const Dim& size);
// An input that is added to a result must have the result's type. Sets the type if it is unknown.
Status CheckTermType(InferContext& c, const char* port, DType& type);
// True if both are known and different.
bool Differ(const Dim& a, const Dim& b);
// Of two sizes that must be equal, the one that is known.
Dim MoreSpecific(const Dim& a, const Dim& b);

// The result type of products: equal float types stay; integers of less than 32 bits give i32.
Result<DType> ProductType(DType a, DType b);

}  // namespace tern
