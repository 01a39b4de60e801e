// SpaceToDepth: moves blocks of pixels into channels.
#include "ir/batch_items.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

struct SpaceToDepth : ChannelOrder {
  int64_t block = 1;
  template <class V> void Visit(V& v) {
    v("block", block, "side length of a block in pixels");
    VisitChannels(v);
  }
};

// Returns the dims of y. x and y are in the order [N, C, H, W].
Result<std::vector<Dim>> OutDims(const SpaceToDepth& op, const Shape& x) {
  if (op.block < 1 || op.block > INT32_MAX)
    return InvalidModel("block is ", op.block, ", but must be from 1 to ", INT32_MAX);
  if (x.rank() != 4) return InvalidModel("x must be [N,C,H,W], got ", x.ToString());
  for (int i = 2; i < 4; ++i)
    if (x[i].known() && x[i].value() % op.block)
      return InvalidModel("x.dim[", i, "]=", x[i].value(), " is not a multiple of block ", op.block);
  return std::vector<Dim>{x[0], x[1] * Dim(op.block * op.block), FloorDiv(x[2], op.block),
                          FloorDiv(x[3], op.block)};
}

Status Infer(const SpaceToDepth& op, InferContext& c) {
  std::vector<Dim> dims(4);
  if (c.ShapeOf("x").ranked) {
    TERN_ASSIGN(dims, OutDims(op, op.ToChannelsFirst(c.ShapeOf("x"))));
    dims = op.ToOwnLayout(dims);
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

Status Reference(const SpaceToDepth& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const Dims dx = op.ToChannelsFirst(x.dims());
  TERN_ASSIGN(const auto shape, OutDims(op, Shape::Of(dx)));
  const Dims dims = Shape(shape).Concrete();
  const int64_t b = op.block, channels = dx[1], w = dx[3], plane = dx[2] * w;
  Tensor& y = c.Out("y", op.ToOwnLayout(dims));
  if (op.channels_last) {
    // The loops run over sample, y, x, row in block, column in block, channel.
    const Dims loop = {dx[0], dims[2], dims[3], b, b, channels};
    CopyElements(x, {0, {plane * channels, b * w * channels, b * channels, w * channels, channels, 1}}, y,
                 {0, ContiguousStrides(loop)}, loop);
    return {};
  }
  // The loops run over sample, row in block, column in block, channel, y, x.
  const Dims loop = {dx[0], b, b, channels, dims[2], dims[3]};
  CopyElements(x, {0, {channels * plane, w, 1, plane, b * w, b}}, y, {0, ContiguousStrides(loop)}, loop);
  return {};
}

}  // namespace

TERN_OP(SpaceToDepth) {
  return OpDef::Of<SpaceToDepth>("[N, C, H·b, W·b] as [N, b·b·C, H, W]")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Moves({}, No{"channels and pixels are interleaved"})
      .Batch(&BatchItems::FirstInput)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
