// Shape: the dims as a tensor.
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct ShapeOp {
  int64_t start = 0;
  int64_t end = INT64_MAX;
  template <class V> void Visit(V& v) {
    v("start", start, "the first dim; a negative number counts from the end");
    v("end", end, "one past the last dim; a negative number counts from the end");
  }
};

std::pair<int, int> Bounds(const ShapeOp& op, int rank) {
  const auto clamp = [&](int64_t v) {
    const int64_t w = v < 0 ? std::max<int64_t>(v, -rank - 1) + rank : v;
    return static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(w, rank)));
  };
  return {clamp(op.start), std::max(clamp(op.start), clamp(op.end))};
}

Status Infer(const ShapeOp& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (!x.ranked) {
    c.Out("shape", DType::kI64, Shape({Dim()}));
    return {};
  }
  const auto [begin, end] = Bounds(op, x.rank());
  c.Out("shape", DType::kI64, Shape({Dim(end - begin)}));
  c.OutContent("shape", Content(x.dims.begin() + begin, x.dims.begin() + end));
  return {};
}

Status Reference(const ShapeOp& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto [begin, end] = Bounds(op, x.rank());
  c.OutLongs("shape", {end - begin}, {x.dims().begin() + begin, x.dims().begin() + end});
  return {};
}

}  // namespace

TERN_OP(Shape) {
  return OpDef::Of<ShapeOp>("dims [start, end) of x")
      .In("x", kAnyType)
      .Out("shape", SetOf(DType::kI64))
      .Traits(kPure | kReadsDims)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
