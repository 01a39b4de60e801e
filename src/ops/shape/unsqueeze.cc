// Unsqueeze: inserts dims of size 1.
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Unsqueeze : NoAttrs {};

Result<std::vector<Dim>> UnsqueezedDims(const Shape& x, const std::vector<int64_t>& axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  TERN_ASSIGN(const auto list, NormalizeAxes(axes, rank));
  std::vector<Dim> dims(static_cast<size_t>(rank));
  for (int a : list) dims[static_cast<size_t>(a)] = 1;
  std::vector<bool> is_new(static_cast<size_t>(rank));
  for (int a : list) is_new[static_cast<size_t>(a)] = true;
  int next = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!is_new[i]) dims[i] = x[next++];
  return dims;
}

Status Infer(const Unsqueeze&, InferContext& c) {
  TERN_TRY(RequireVector(c, "axes"));
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), Shape());
  if (!x.ranked) return {};
  if (const auto axes = c.LongsOf("axes")) {
    TERN_ASSIGN(auto dims, UnsqueezedDims(x, *axes));
    if (auto content = c.ContentOf("x"); content && dims.size() <= 1) c.OutContent("y", *content);
    c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  } else if (const int n = KnownLength(c.ShapeOf("axes")); n >= 0) {
    c.Out("y", c.TypeOf("x"), Shape(std::vector<Dim>(static_cast<size_t>(x.rank() + n))));
  }
  return {};
}

Status Reference(const Unsqueeze&, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(auto dims, UnsqueezedDims(Shape::Of(x.dims()), c.Longs("axes")));
  c.SetOut("y", x.Clone().Reshaped(Shape(dims).Concrete()));
  return {};
}

}  // namespace

TERN_OP(Unsqueeze) {
  return OpDef::Of<Unsqueeze>("x with dims of size 1 inserted at the listed axes of y")
      .In("x", kAnyType)
      .Setting("axes", kIndices)
      .Out("y", kAnyType)
      .Traits(kPure | kView)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
