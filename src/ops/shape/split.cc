// Split: splits a tensor along an axis.
#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/slices.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Split {
  int64_t axis = 0;
  int64_t num_outputs = 0;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis that is split; a negative axis counts from the end");
    v("num_outputs", num_outputs,
      "if sizes is absent, the number of equal parts; the last parts may be smaller; 0 means one part per output");
  }
};

// Splits `dim` elements into n parts, and returns the sizes of the first `wanted` parts. Each part has
// ceil(dim / n) elements, but the last parts may be smaller. For example, the parts of 5 elements in 4 parts
// are 2, 2, 1 and 0.
std::vector<Dim> EqualParts(const Dim& dim, int64_t n, int wanted) {
  const Dim part = CeilDiv(dim, n);
  const bool even = Mod(dim, n).Is(0);
  std::vector<Dim> out;
  for (int64_t i = 0; i < wanted; ++i)
    out.push_back(i == 0 || even ? part : Min(part, Max(0, dim - part * Dim(i))));
  return out;
}

Result<std::vector<Dim>> PartSizes(const Split& op, const Dim& dim, const std::optional<Content>& sizes,
                                   int outputs) {
  if (!sizes) {
    if (op.num_outputs < 0)
      return InvalidModel("num_outputs is ", op.num_outputs, ", but must not be negative");
    if (op.num_outputs && op.num_outputs < outputs)
      return InvalidModel("num_outputs is ", op.num_outputs, ", but the node has ", outputs, " outputs");
    return EqualParts(dim, op.num_outputs ? op.num_outputs : outputs, outputs);
  }
  if (static_cast<int>(sizes->size()) < outputs)
    return InvalidModel(sizes->size(), " sizes for ", outputs, " outputs");
  Dim sum = 0;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const Dim& s = (*sizes)[i];
    if (s.known() && s.value() < 0)
      return InvalidModel("sizes[", i, "] is ", s.value(), ", but must not be negative");
    sum = sum + s;
  }
  if (sum.known() && dim.known() && sum != dim)
    return InvalidModel("sizes add up to ", sum.value(), ", but the split dimension is ", dim.value());
  return std::vector<Dim>(sizes->begin(), sizes->begin() + outputs);
}

// Splits the content of x if the sizes of the parts are known.
void PassContent(InferContext& c, const Content& all, const std::vector<Dim>& parts) {
  int64_t at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].known() || at + parts[i].value() > static_cast<int64_t>(all.size())) return;
    c.outputs()[i].content = Content(all.begin() + at, all.begin() + at + parts[i].value());
    at += parts[i].value();
  }
}

Status Infer(const Split& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (c.OutputCount() == 0) return {};
  int axis = -1;
  if (x.ranked) {
    TERN_ASSIGN(axis, NormalizeAxis(op.axis, x.rank()));
  }
  std::vector<Dim> parts(static_cast<size_t>(c.OutputCount()));
  if (auto sizes = c.ContentOf("sizes"); sizes || !c.Has("sizes")) {
    TERN_ASSIGN(parts, PartSizes(op, axis >= 0 ? x[axis] : Dim(), sizes, c.OutputCount()));
  }
  for (int i = 0; i < c.OutputCount(); ++i) {
    Shape shape = x;
    if (axis >= 0) shape.dims[static_cast<size_t>(axis)] = parts[static_cast<size_t>(i)];
    c.Out(i, Type::TensorOf(c.TypeOf("x"), std::move(shape)));
  }
  if (auto content = c.ContentOf("x"); content && x.rank() == 1) PassContent(c, *content, parts);
  return {};
}

Status Reference(const Split& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  std::optional<Content> sizes;
  if (c.Has("sizes")) {
    const auto longs = c.Longs("sizes");
    sizes = Content(longs.begin(), longs.end());
  }
  TERN_ASSIGN(const auto parts, PartSizes(op, x.dim(axis), sizes, c.OutputCount()));
  const Dims strides = ContiguousStrides(x.dims());
  int64_t at = 0;
  for (int i = 0; i < c.OutputCount(); ++i) {
    Dims dims = x.dims();
    dims[static_cast<size_t>(axis)] = parts[static_cast<size_t>(i)].value();
    Tensor& y = c.Out(i, dims);
    CopyElements(x, {at * strides[static_cast<size_t>(axis)], strides}, y, {0, ContiguousStrides(dims)},
                 dims);
    at += dims[static_cast<size_t>(axis)];
  }
  return {};
}

std::optional<std::vector<int64_t>> OutputSlices(const StaticNode& n) {
  return SlicesAlongAxis(n, n.inputs[0].dims, n.outputs);
}

}  // namespace

TERN_OP(Split) {
  return OpDef::Of<Split>("the parts of x along axis, with the given sizes or with equal sizes")
      .In("x", kAnyType)
      .OptSetting("sizes", kIndices)
      .VarOut("outputs", kAnyType)
      .Moves({}, OutputSlices)
      .Batch(&BatchItems::AlongOtherAxis)
      .Axes(FirstOperandAxes, RenameAxisAttr)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
