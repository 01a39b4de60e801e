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

// Fails if `from`, the shape of input `port`, does not broadcast to `to`. Unknown sizes are accepted.
Status CheckBroadcastsTo(const char* port, const Shape& from, const Shape& to);
// Fails if the input is present and not a vector of `size` elements. Unknown sizes are accepted.
Status CheckVector(InferContext& c, const char* port, const Dim& size);
// Checks that input `port`, which is added to the result, has the result's type `type`. If `type` is unknown,
// sets it to the input's type.
Status CheckTermType(InferContext& c, const char* port, DType& type);
// Returns whether both sizes are known and different.
bool Differ(const Dim& a, const Dim& b);
// Of two sizes that must be equal, returns the one that is a number. If neither is a number, prefers an
// expression to an unknown size.
Dim MoreSpecific(const Dim& a, const Dim& b);

// Returns the result type of products. Floats must have equal types, and the result has this type. For
// integers of the same type with at least 32 bits, the result has this type. For other integers, the result
// is i64 if one of them has 64 bits, else i32. If a type is unknown, the result is the other type if that is
// a float, else unknown.
Result<DType> ProductType(DType a, DType b);

}  // namespace tern
