// Concat: concatenates tensors along an axis.
#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/slices.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Concat {
  int64_t axis = 0;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis along which the inputs are concatenated; a negative axis counts from the end");
  }
};

// Merges the dims of the next input into `dims`. Along `axis` the sizes are added. All other dims must be
// equal, and an unknown dim is replaced by a known one.
Status Merge(std::vector<Dim>& dims, const Shape& next, int axis, int input) {
  if (next.rank() != static_cast<int>(dims.size()))
    return InvalidModel("input ", input, " has rank ", next.rank(), ", but the inputs before it have rank ",
                        dims.size());
  for (int i = 0; i < next.rank(); ++i) {
    Dim& d = dims[static_cast<size_t>(i)];
    if (i == axis) {
      d = d + next[i];
    } else if (d.known() && next[i].known() && d != next[i]) {
      return InvalidModel("input ", input, " has ", next[i].value(), " along axis ", i,
                          ", but the inputs before it have ", d.value());
    } else if (!d.known() && (next[i].known() || d.unknown())) {
      d = next[i];
    }
  }
  return {};
}

// Returns the shape of the result. It is unranked if no input has a known rank.
Result<Shape> Joined(const Concat& op, const InferContext& c) {
  std::vector<Dim> dims;
  bool started = false, all_ranked = true;
  int axis = 0;
  for (int i = 0; i < c.InputCount(); ++i) {
    const Shape& x = c.In(i).shape;
    all_ranked = all_ranked && x.ranked;
    if (!x.ranked) continue;
    if (!started) {
      TERN_ASSIGN(axis, NormalizeAxis(op.axis, x.rank()));
      dims = x.dims;
      started = true;
    } else {
      TERN_TRY(Merge(dims, x, axis, i));
    }
  }
  if (!started) return Shape();
  if (!all_ranked) dims[static_cast<size_t>(axis)] = Dim::Unknown();
  return Shape(std::move(dims));
}

// Returns the contents of all inputs, one after the other. If an input has no content, but its length is
// known, its elements are unknown.
std::optional<Content> JoinedContent(const InferContext& c) {
  Content all;
  bool any_known = false;
  for (int i = 0; i < c.InputCount(); ++i) {
    auto part = c.ContentOf(i);
    any_known = any_known || part;
    if (!part) {
      const int n = KnownLength(c.In(i).shape);
      if (n < 0 || !IsInt(c.In(i).dtype)) return std::nullopt;
      part = Content(static_cast<size_t>(n));
    }
    all.insert(all.end(), part->begin(), part->end());
  }
  return any_known ? std::optional<Content>(all) : std::nullopt;
}

Status Infer(const Concat& op, InferContext& c) {
  if (c.InputCount() == 0) return InvalidModel("needs at least one input");
  DType dtype = DType::kInvalid;
  for (int i = 0; i < c.InputCount(); ++i) {
    if (!c.Has(i)) return InvalidModel("input ", i, " is missing");
    const DType d = c.In(i).dtype;
    if (d == DType::kInvalid) continue;
    if (dtype != DType::kInvalid && d != dtype)
      return InvalidModel("input ", i, " is ", DTypeName(d), ", but the inputs before it are ",
                          DTypeName(dtype));
    dtype = d;
  }
  TERN_ASSIGN(Shape shape, Joined(op, c));
  const bool vector = shape.rank() == 1;
  c.Out("y", dtype, std::move(shape));
  if (auto content = vector ? JoinedContent(c) : std::nullopt) c.OutContent("y", *content);
  return {};
}

Status Reference(const Concat& op, EvalContext& c) {
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, c.In(0).rank()));
  Dims dims = c.In(0).dims();
  for (int i = 1; i < c.InputCount(); ++i) dims[static_cast<size_t>(axis)] += c.In(i).dim(axis);
  Tensor& y = c.Out("y", dims);
  const Dims strides = ContiguousStrides(dims);
  int64_t at = 0;
  for (int i = 0; i < c.InputCount(); ++i) {
    const Tensor& x = c.In(i);
    CopyElements(x, {0, ContiguousStrides(x.dims())}, y, {at * strides[static_cast<size_t>(axis)], strides},
                 x.dims());
    at += x.dim(axis);
  }
  return {};
}

std::optional<std::vector<int64_t>> InputSlices(const StaticNode& n) {
  return SlicesAlongAxis(n, n.outputs[0].dims, n.inputs);
}

bool ConcatBatch(BatchItems& b) {
  for (size_t i = 0; i < b.node().inputs.size(); ++i)
    if (!b.Has(i) || !b.Items(i)) return false;
  return b.Axis() != 0;
}

std::optional<AxisMap> ConcatAxes(const Node&) { return AxisMap{.operands = AxisMap::Operands::kJoined}; }

}  // namespace

TERN_OP(Concat) {
  return OpDef::Of<Concat>("the inputs, concatenated along axis")
      .VarIn("inputs", kAnyType)
      .Out("y", kAnyType)
      .Moves({.count = Movement::kAllInputs}, No{"several inputs are read"})
      .JoinedSlices(InputSlices)
      .Batch(ConcatBatch)
      .Axes(ConcatAxes, RenameAxisAttr)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
