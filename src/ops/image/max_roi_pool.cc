// MaxRoiPool: max pooling of regions of a feature map to a fixed grid of bins.
#include <algorithm>
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct MaxRoiPool {
  std::vector<int64_t> pooled_shape = {1, 1};
  float spatial_scale = 1;
  template <class V> void Visit(V& v) {
    v("pooled_shape", pooled_shape, "number of bins along y and x");
    v("spatial_scale", spatial_scale, "factor that converts coordinates of rois to coordinates of x");
  }
};

Status Infer(const MaxRoiPool& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &rois = c.ShapeOf("rois");
  if (op.pooled_shape.size() != 2 || op.pooled_shape[0] < 1 || op.pooled_shape[1] < 1)
    return InvalidModel("pooled_shape is [", Join(op.pooled_shape, ","),
                        "], but must be two positive numbers");
  if (x.ranked && x.rank() != 4) return InvalidModel("x must be [N,C,H,W], got ", x.ToString());
  if (rois.ranked && (rois.rank() != 2 || (rois[1].known() && !rois[1].Is(5))))
    return InvalidModel("rois must be [rois,5], got ", rois.ToString());
  c.Out("y", c.TypeOf("x"),
        Shape({rois.ranked ? rois[0] : Dim(), x.ranked ? x[1] : Dim(), op.pooled_shape[0],
               op.pooled_shape[1]}));
  return {};
}

// Returns the elements [first, last) of a bin along one axis.
std::pair<int64_t, int64_t> Bin(double begin, double end, int64_t bin, int64_t bins, int64_t length) {
  const double size = std::max(end - begin + 1, 1.0) / static_cast<double>(bins),
               limit = static_cast<double>(length);
  const auto clamp = [&](double v) {
    return static_cast<int64_t>(std::isnan(v) ? 0 : std::clamp(v, 0.0, limit));
  };
  return {clamp(std::floor(static_cast<double>(bin) * size) + begin),
          clamp(std::ceil(static_cast<double>(bin + 1) * size) + begin)};
}

Status Reference(const MaxRoiPool& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &rois = c.In("rois");
  const auto region = ToDoubles(rois), image = ToDoubles(x);
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), rows = op.pooled_shape[0],
                columns = op.pooled_shape[1];
  Tensor& y = c.Out("y", {rois.dim(0), channels, rows, columns});
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t column = i % columns, row = i / columns % rows, ch = i / (columns * rows) % channels,
                  r = i / (columns * rows * channels);
    const double* roi = &region[static_cast<size_t>(5 * r)];
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.dim(0))))
      return InvalidArgument("rois[", r, "] refers to sample ", roi[0], " of a batch of ", x.dim(0));
    const auto side = [&](int k) { return std::round(roi[k] * op.spatial_scale); };
    const auto [x0, x1] = Bin(side(1), side(3), column, columns, width);
    const auto [y0, y1] = Bin(side(2), side(4), row, rows, height);
    const int64_t plane = (static_cast<int64_t>(roi[0]) * channels + ch) * height;
    bool empty = true;
    double best = 0;
    for (int64_t h = y0; h < y1; ++h)
      for (int64_t w = x0; w < x1; ++w) {
        const double v = image[static_cast<size_t>((plane + h) * width + w)];
        best = empty ? v : std::max(best, v);
        empty = false;
      }
    StoreDouble(y, i, best);
  }
  return {};
}

}  // namespace

TERN_OP(MaxRoiPool) {
  return OpDef::Of<MaxRoiPool>("max pooling of each region [sample, x1, y1, x2, y2] of x to a grid of bins")
      .In("x", kFloats)
      .In("rois", kFloats)
      .Out("y", kFloats)
      .Flops(kNoKernel)
      .Batch(No{"a region may be in any item"})
      .Axes(No{"the regions depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
