// DepthToSpace: moves channels into blocks of pixels.
#include "ir/batch_items.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

enum class DepthOrder { kDcr, kCrd };

struct DepthToSpace : ChannelOrder {
  int64_t block = 1;
  DepthOrder mode = DepthOrder::kDcr;
  template <class V> void Visit(V& v) {
    v("block", block, "side length of a block in pixels");
    v.Enum("mode", mode, {"DCR", "CRD"},
           "order of the channel axis: (row, column, depth) or (depth, row, column)");
    VisitChannels(v);
  }
};

// Returns the dims of y. x and y are in the order [N, C, H, W].
Result<std::vector<Dim>> OutDims(const DepthToSpace& op, const Shape& x) {
  if (op.block < 1 || op.block > INT32_MAX)
    return InvalidModel("block is ", op.block, ", but must be from 1 to ", INT32_MAX);
  if (x.rank() != 4) return InvalidModel("x must be [N,C,H,W], got ", x.ToString());
  const int64_t area = op.block * op.block;
  if (x[1].known() && x[1].value() % area)
    return InvalidModel(x[1].value(), " channels cannot be split into blocks of ", area);
  return std::vector<Dim>{x[0], FloorDiv(x[1], area), x[2] * Dim(op.block), x[3] * Dim(op.block)};
}

Status Infer(const DepthToSpace& op, InferContext& c) {
  std::vector<Dim> dims(4);
  if (c.ShapeOf("x").ranked) {
    TERN_ASSIGN(dims, OutDims(op, op.ToChannelsFirst(c.ShapeOf("x"))));
    dims = op.ToOwnLayout(dims);
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

Status Reference(const DepthToSpace& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const Dims dx = op.ToChannelsFirst(x.dims());
  TERN_ASSIGN(const auto shape, OutDims(op, Shape::Of(dx)));
  const Dims dims = Shape(shape).Concrete();
  const int64_t b = op.block, depth = dims[1], h = dx[2], w = dx[3];
  Tensor& y = c.Out("y", op.ToOwnLayout(dims));
  const bool dcr = op.mode == DepthOrder::kDcr;
  const int64_t d = dcr ? 1 : b * b, r = dcr ? b * depth : b,
                k = dcr ? depth : 1;  // channel strides of depth, row, column
  if (op.channels_last) {
    // The loops run over sample, y, row in block, x, column in block, depth.
    const Dims loop = {dx[0], h, b, w, b, depth};
    CopyElements(x, {0, {h * w * dx[1], w * dx[1], r, dx[1], k, d}}, y, {0, ContiguousStrides(loop)}, loop);
    return {};
  }
  // The loops run over sample, depth, y, row in block, x, column in block.
  const int64_t plane = h * w;
  const Dims loop = {dx[0], depth, h, b, w, b};
  CopyElements(x, {0, {dx[1] * plane, d * plane, w, r * plane, 1, k * plane}}, y,
               {0, ContiguousStrides(loop)}, loop);
  return {};
}

}  // namespace

TERN_OP(DepthToSpace) {
  return OpDef::Of<DepthToSpace>("[N, C·b·b, H, W] as [N, C, H·b, W·b]")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Moves({}, No{"channels and pixels are interleaved"})
      .Batch(&BatchItems::FirstInput)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
