#include "import/common/extremes.h"

#include <limits>

namespace tern::import {
namespace {

double LargestFloat(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF16:
      return 65504.0;
    case DType::kBF16:
      return 3.3895313892515355e38;
    default:
      return std::numeric_limits<float>::max();
  }
}

// Returns an integer that a double need not represent.
Tensor OfLong(DType dtype, int64_t value) {
  Tensor out(dtype, {1});
  StoreLong(out, 0, value);
  return out;
}

}  // namespace

Tensor SmallestOf(DType dtype) {
  if (!IsInt(dtype)) return Tensor::Of(dtype, {1}, {-LargestFloat(dtype)});
  if (IsUnsignedInt(dtype)) return OfLong(dtype, 0);
  return OfLong(dtype, std::numeric_limits<int64_t>::min() >> (64 - BitWidth(dtype)));
}

Tensor LargestOf(DType dtype) {
  if (!IsInt(dtype)) return Tensor::Of(dtype, {1}, {LargestFloat(dtype)});
  if (IsUnsignedInt(dtype)) return OfLong(dtype, -1);  // all bits are set
  return OfLong(dtype, std::numeric_limits<int64_t>::max() >> (64 - BitWidth(dtype)));
}

}  // namespace tern::import
