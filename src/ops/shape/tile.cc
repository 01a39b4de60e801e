// Tile: repeats a tensor along each dim.
#include "ir/axis_map.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Tile : NoAttrs {};

Result<std::vector<Dim>> Repeated(const Shape& x, const Content& repeats) {
  if (static_cast<int>(repeats.size()) != x.rank())
    return InvalidModel("repeats has ", repeats.size(), " entries for a rank-", x.rank(), " tensor");
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& r = repeats[static_cast<size_t>(i)];
    int64_t product = 0;
    if (r.known() && r.value() < 0)
      return InvalidModel("repeats[", i, "] is ", r.value(), ", but must not be negative");
    if (r.known() && x[i].known() && __builtin_mul_overflow(r.value(), x[i].value(), &product))
      return ResourceExhausted("repeats[", i, "] is ", r.value(), " for a dimension of ", x[i].value(),
                               ", which is too large");
    dims.push_back(x[i] * r);
  }
  return dims;
}

Status Infer(const Tile&, InferContext& c) {
  TERN_TRY(RequireVector(c, "repeats"));
  const Shape& x = c.ShapeOf("x");
  const auto repeats = c.ContentOf("repeats");
  if (x.ranked && repeats) {
    TERN_ASSIGN(auto dims, Repeated(x, *repeats));
    c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  } else {
    const int rank = x.ranked  ? x.rank()
                     : repeats ? static_cast<int>(repeats->size())
                               : KnownLength(c.ShapeOf("repeats"));
    c.Out("y", c.TypeOf("x"), rank < 0 ? Shape() : Shape(std::vector<Dim>(static_cast<size_t>(rank))));
  }
  const auto content = c.ContentOf("x");
  if (!content || !repeats || repeats->size() != 1 || !(*repeats)[0].known()) return {};
  Content all;
  for (int64_t i = 0; i < (*repeats)[0].value() && all.size() <= 1024; ++i)
    all.insert(all.end(), content->begin(), content->end());
  c.OutContent("y", std::move(all));
  return {};
}

Status Reference(const Tile&, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto repeats = c.Longs("repeats");
  TERN_ASSIGN(const auto shape, Repeated(Shape::Of(x.dims()), Content(repeats.begin(), repeats.end())));
  const Dims dims = Shape(shape).Concrete(), from = ContiguousStrides(x.dims()), to = ContiguousStrides(dims);
  Tensor& y = c.Out("y", dims);
  // For each dim there are two loops. The first loops over the repeats and has source stride 0. The second
  // loops over the dim.
  Dims loop, source, target;
  for (size_t i = 0; i < dims.size(); ++i) {
    loop.insert(loop.end(), {repeats[i], x.dims()[i]});
    source.insert(source.end(), {0, from[i]});
    target.insert(target.end(), {to[i] * x.dims()[i], to[i]});
  }
  CopyElements(x, {0, source}, y, {0, target}, loop);
  return {};
}

std::optional<AxisMap> TileAxes(const Node& node) {
  if (!IntsOf(node.input(1))) return std::nullopt;
  return FirstOperandLayout(node);
}
void RenameTile(const Node& node, AxisRenaming& r) { r.SetInput(1, r.Reordered(*IntsOf(node.input(1)))); }

}  // namespace

TERN_OP(Tile) {
  return OpDef::Of<Tile>(
             "copies of x, concatenated along each dim; repeats[i] is the number of copies along dim i")
      .In("x", kAnyType)
      .Setting("repeats", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kMore}, No{"elements are repeated"})
      .Batch(No{"the outermost dim may be repeated"})
      .Axes(TileAxes, RenameTile)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
