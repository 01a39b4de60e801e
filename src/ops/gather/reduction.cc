#include "ops/gather/reduction.h"

#include <cmath>

#include "ops/shape/element_copy.h"

namespace tern {
namespace {

double Join(ScatterReduction reduction, double a, double b) {
  if (reduction == ScatterReduction::kAdd) return a + b;
  if (reduction == ScatterReduction::kMul) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return reduction == ScatterReduction::kMin ? std::min(a, b) : std::max(a, b);
}

int64_t Join(ScatterReduction reduction, int64_t a, int64_t b, bool is_unsigned) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);  // sums and products wrap
  if (reduction == ScatterReduction::kAdd) return static_cast<int64_t>(x + y);
  if (reduction == ScatterReduction::kMul) return static_cast<int64_t>(x * y);
  const bool less = is_unsigned ? x < y : a < b;
  return less == (reduction == ScatterReduction::kMin) ? a : b;
}

}  // namespace

void ScatterRun(ScatterReduction reduction, const Tensor& updates, int64_t from, Tensor& y, int64_t at,
                int64_t count) {
  if (reduction == ScatterReduction::kNone) return CopyRun(updates, from, y, at, count);
  const DType dtype = y.dtype();
  for (int64_t i = 0; i < count; ++i) {
    if (IsFloat(dtype))
      StoreDouble(y, at + i, Join(reduction, LoadDouble(y, at + i), LoadDouble(updates, from + i)));
    else
      StoreLong(y, at + i,
                Join(reduction, LoadLong(y, at + i), LoadLong(updates, from + i), IsUnsignedInt(dtype)));
  }
}

Status CheckReducible(ScatterReduction reduction, DType dtype) {
  if (reduction == ScatterReduction::kNone || dtype == DType::kInvalid || IsNumeric(dtype) ||
      dtype == DType::kBool)
    return {};
  return InvalidModel("the reduction must be 'none' for elements of type ", DTypeName(dtype));
}

}  // namespace tern
