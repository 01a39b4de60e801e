// Squeeze: removes dims of size 1.
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Squeeze : NoAttrs {};

// Without axes, Squeeze removes all dims of size 1. Returns whether the rank of the result is then known:
// each dim must be a number or an expression that is at least 2.
bool Decidable(const Shape& x) {
  for (const Dim& d : x.dims)
    if (!d.known() && d.LowerBound().value_or(0) < 2) return false;
  return true;
}

// Returns the indices of the remaining dims.
Result<std::vector<int>> Kept(const Shape& x, const std::optional<std::vector<int64_t>>& axes) {
  std::vector<bool> removed;
  for (const Dim& d : x.dims) removed.push_back(!axes && d.Is(1));
  if (axes) {
    TERN_ASSIGN(const auto list, NormalizeAxes(*axes, x.rank()));
    for (int a : list) {
      if (x[a].known() && !x[a].Is(1))
        return InvalidModel("cannot squeeze axis ", a, " of size ", x[a].value());
      removed[static_cast<size_t>(a)] = true;
    }
  }
  std::vector<int> kept;
  for (int i = 0; i < x.rank(); ++i)
    if (!removed[static_cast<size_t>(i)]) kept.push_back(i);
  return kept;
}

Status Infer(const Squeeze&, InferContext& c) {
  TERN_TRY(RequireVector(c, "axes"));
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), Shape());
  const auto axes = c.LongsOf("axes");
  if (x.ranked && (axes || (!c.Has("axes") && Decidable(x)))) {
    TERN_ASSIGN(const auto kept, Kept(x, axes));
    std::vector<Dim> dims;
    for (int i : kept) dims.push_back(x[i]);
    if (auto content = c.ContentOf("x"); content && dims.size() <= 1) c.OutContent("y", *content);
    c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  } else if (const int n = c.Has("axes") ? KnownLength(c.ShapeOf("axes")) : -1;
             x.ranked && n >= 0 && n <= x.rank()) {
    c.Out("y", c.TypeOf("x"), Shape(std::vector<Dim>(static_cast<size_t>(x.rank() - n))));
  }
  return {};
}

Status Reference(const Squeeze&, EvalContext& c) {
  const Tensor& x = c.In("x");
  std::optional<std::vector<int64_t>> axes;
  if (c.Has("axes")) axes = c.Longs("axes");
  TERN_ASSIGN(const auto kept, Kept(Shape::Of(x.dims()), axes));
  Dims dims;
  for (int i : kept) dims.push_back(x.dim(i));
  c.SetOut("y", x.Clone().Reshaped(dims));
  return {};
}

}  // namespace

TERN_OP(Squeeze) {
  return OpDef::Of<Squeeze>(
             "x without the dims that axes lists, which must be 1; without axes, x without all dims of size 1")
      .In("x", kAnyType)
      .OptSetting("axes", kIndices)
      .Out("y", kAnyType)
      .Traits(kPure | kView)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
