// OneHot: replaces each index by a vector along a new axis. The vector has values[1] at the index and
// values[0] elsewhere.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct OneHot {
  int64_t axis = -1;
  template <class V> void Visit(V& v) {
    v("axis", axis, "position of the new axis in y; a negative axis counts from the end");
  }
};

Result<int64_t> DepthOf(const Tensor& depth) {
  if (depth.size() != 1) return InvalidArgument("depth must have one element, got ", depth.Describe());
  const double d = LoadDouble(depth, 0);
  if (!(d >= 0 && d < 9e18)) return InvalidArgument("depth is ", d, ", but must be in [0, 9e18)");
  return static_cast<int64_t>(d);
}

Status Infer(const OneHot& op, InferContext& c) {
  const Shape &indices = c.ShapeOf("indices"), &values = c.ShapeOf("values");
  if (values.ranked && (values.rank() != 1 || (values[0].known() && !values[0].Is(2))))
    return InvalidModel("values must be [off, on], got ", values.ToString());
  c.Out("y", c.TypeOf("values"), Shape());
  if (!indices.ranked) return {};
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, indices.rank() + 1));
  Dim depth;
  if (const Tensor* t = c.Constant("depth")) {
    TERN_ASSIGN(depth, DepthOf(*t));
  } else if (auto content = c.ContentOf("depth"); content && content->size() == 1) {
    depth = (*content)[0];
  }
  std::vector<Dim> dims = indices.dims;
  dims.insert(dims.begin() + axis, depth);
  c.Out("y", c.TypeOf("values"), Shape(std::move(dims)));
  return {};
}

Status Reference(const OneHot& op, EvalContext& c) {
  const Tensor &indices = c.In("indices"), &values = c.In("values");
  TERN_ASSIGN(const int64_t depth, DepthOf(c.In("depth")));
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, indices.rank() + 1));
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  Tensor& y = c.Out("y", dims);
  FillElements(values, 0, y);
  const int64_t inner = CountBetween(indices.dims(), axis, indices.rank());
  for (int64_t i = 0; i < indices.size(); ++i) {
    // Indices outside [-depth, depth) set no element.
    const double at = LoadDouble(indices, i);
    if (!(at >= -static_cast<double>(depth) && at < static_cast<double>(depth))) continue;
    const int64_t d = static_cast<int64_t>(at) + (at < 0 ? depth : 0);
    if (d < depth) CopyRun(values, 1, y, (i / inner * depth + d) * inner + i % inner, 1);
  }
  return {};
}

}  // namespace

TERN_OP(OneHot) {
  return OpDef::Of<OneHot>(
             "replaces each index by a vector of size depth along a new axis: values[1] at the index, values[0] elsewhere")
      .Setting("indices", kNumbers)
      .Setting("depth", kNumbers)
      .In("values", kAnyType)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny, .first = 2}, No{"y repeats the two elements of values"})
      .Batch(No{"the new axis may be the outermost"})
      .Axes(No{"the attribute axis is a position in the result, not in indices"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
