// DynamicScale: the scale and zero point with which u8 represents all elements of a tensor, and 0.
#include <algorithm>
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/quant/dynamic_range.h"

namespace tern {
namespace {

struct DynamicScale {
  template <class V> void Visit(V&) {}
};

Status Infer(const DynamicScale&, InferContext& c) {
  c.Out("scale", DType::kF32, Shape(std::vector<Dim>()));
  c.Out("zero_point", DType::kU8, Shape(std::vector<Dim>()));
  return {};
}

Status Reference(const DynamicScale&, EvalContext& c) {
  float low = 0, high = 0;
  for (double v : c.Doubles("x")) {
    const auto x = static_cast<float>(v);
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  const DynamicRange range = DynamicRangeOf(low, high);
  c.Out("scale", {}, {range.scale});
  c.Out("zero_point", {}, {range.zero});
  return {};
}

}  // namespace

TERN_OP(DynamicScale) {
  return OpDef::Of<DynamicScale>(
             "scale = (max(x, 0) - min(x, 0)) / 255, or 1 if that is 0; zero_point = round(-min(x, 0) / scale); NaN is ignored")
      .In("x", SetOf(DType::kF32))
      .Out("scale", SetOf(DType::kF32))
      .Out("zero_point", SetOf(DType::kU8))
      .Flops(PerInput(2))
      .Batch(No{"the range is that of all elements"})
      .Axes(No{"all axes are reduced"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
