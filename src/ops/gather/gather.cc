// Gather: selects slices along an axis by index.
#include "ir/axis_map.h"
#include "ir/slices.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Gather {
  int64_t axis = 0;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis of x that indices refer to; a negative axis counts from the end");
  }
};

// If x has content and the indices are known, sets the content of y to the elements that the indices select.
Status PassContent(InferContext& c) {
  const auto x = c.ContentOf("x");
  const auto indices = c.LongsOf("indices");
  const Shape& y = c.outputs()[0].type.shape;
  if (!x || !indices || c.ShapeOf("x").rank() != 1 || !y.ranked || y.rank() > 1) return {};
  Content out;
  for (int64_t i : *indices) {
    TERN_ASSIGN(const int64_t at, NormalizeIndex(i, static_cast<int64_t>(x->size()), 0));
    out.push_back((*x)[static_cast<size_t>(at)]);
  }
  c.OutContent("y", std::move(out));
  return {};
}

Status Infer(const Gather& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &indices = c.ShapeOf("indices");
  c.Out("y", c.TypeOf("x"), Shape());
  int axis = 0;
  if (x.ranked) {
    TERN_ASSIGN(axis, NormalizeAxis(op.axis, x.rank()));
  }
  if (!x.ranked || !indices.ranked) return {};
  std::vector<Dim> dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return PassContent(c);
}

Status Reference(const Gather& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &indices = c.In("indices");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  Dims dims(x.dims().begin(), x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  std::vector<int64_t> at = ToLongs(indices);
  for (int64_t& i : at) {
    TERN_ASSIGN(i, NormalizeIndex(i, x.dim(axis), axis));
  }
  Tensor& y = c.Out("y", dims);
  const int64_t outer = CountBetween(x.dims(), 0, axis), inner = CountBetween(x.dims(), axis + 1, x.rank());
  int64_t to = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i : at) {
      CopyRun(x, (o * x.dim(axis) + i) * inner, y, to, inner);
      to += inner;
    }
  return {};
}

// The result has as many axes as x only if indices has rank 1.
std::optional<AxisMap> Axes(const Node& node) {
  if (node.input(1)->type.shape.rank() != 1) return std::nullopt;
  return FirstOperandLayout(node);
}

// If indices is a single known index along the outermost axis, the result is a contiguous slice of x. Returns
// the offset of this slice.
std::optional<std::vector<int64_t>> Slices(const StaticNode& n) {
  const Tensor* indices = n.Known(1);
  if (!indices || indices->size() != 1) return std::nullopt;
  const Dims& dims = n.inputs[0].dims;
  const int64_t axis = n.Axis(dims);
  if (!Outermost(dims, axis) || CountOf(dims) == 0) return std::nullopt;
  const int64_t length = dims[static_cast<size_t>(axis)];
  int64_t index = LoadLong(*indices, 0);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  return std::vector<int64_t>{index * ContiguousStrides(dims)[static_cast<size_t>(axis)]};
}

}  // namespace

TERN_OP(Gather) {
  return OpDef::Of<Gather>(
             "the slices of x along axis that indices select; a negative index counts from the end")
      .In("x", kAnyType)
      .Setting("indices", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny}, Slices)
      .Batch(No{"an index may refer to any item"})
      .Axes(Axes, RenameAxisAttr)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
