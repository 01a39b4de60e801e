// SpaceToDepth: blocks of pixels become channels.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct SpaceToDepth {
  int64_t block = 1;
  template <class V> void Visit(V& v) { v("block", block, "pixels of a block along each side"); }
};

Result<std::vector<Dim>> OutDims(const SpaceToDepth& op, const Shape& x) {
  if (op.block < 1 || op.block > INT32_MAX) return InvalidModel("block is ", op.block);
  if (x.rank() != 4) return InvalidModel("x must be [N,C,H,W], got ", x.ToString());
  for (int i = 2; i < 4; ++i)
    if (x[i].known() && x[i].value() % op.block)
      return InvalidModel("x.dim[", i, "]=", x[i].value(), " is no multiple of block ", op.block);
  return std::vector<Dim>{x[0], x[1] * Dim(op.block * op.block), FloorDiv(x[2], op.block),
                          FloorDiv(x[3], op.block)};
}

Status Infer(const SpaceToDepth& op, InferContext& c) {
  std::vector<Dim> dims(4);
  if (c.ShapeOf("x").ranked) {
    TERN_ASSIGN(dims, OutDims(op, c.ShapeOf("x")));
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

Status Reference(const SpaceToDepth& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const auto shape, OutDims(op, Shape::Of(x.dims())));
  const Dims dims = Shape(shape).Concrete();
  const int64_t b = op.block, w = x.dim(3), plane = x.dim(2) * w;
  Tensor& y = c.Out("y", dims);
  // Indices: sample, row in block, column in block, channel, y, x.
  const Dims loop = {x.dim(0), b, b, x.dim(1), dims[2], dims[3]};
  CopyElements(x, {0, {x.dim(1) * plane, w, 1, plane, b * w, b}}, y, {0, ContiguousStrides(loop)}, loop);
  return {};
}

}  // namespace

TERN_OP(SpaceToDepth) {
  return OpDef::Of<SpaceToDepth>("[N, C, H·b, W·b] as [N, b·b·C, H, W]")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
