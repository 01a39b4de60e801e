// PsRoiPool: average pooling of regions, where each bin has channels of its own (R-FCN).
#include <algorithm>
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct PsRoiPool {
  int64_t output_dim = 1, group_size = 1;
  float spatial_scale = 1;
  template <class V> void Visit(V& v) {
    v("output_dim", output_dim, "number of channels of y");
    v("group_size", group_size, "number of bins along y and x");
    v("spatial_scale", spatial_scale, "factor that converts coordinates of rois to coordinates of x");
  }
};

Status Infer(const PsRoiPool& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &rois = c.ShapeOf("rois");
  if (op.output_dim < 1 || op.group_size < 1 || op.output_dim > INT32_MAX || op.group_size > 1 << 15)
    return InvalidModel("output_dim ", op.output_dim, " and group_size ", op.group_size, " must be positive");
  const int64_t channels = op.output_dim * op.group_size * op.group_size;
  if (x.ranked && (x.rank() != 4 || (x[1].known() && !x[1].Is(channels))))
    return InvalidModel("x must be [N,", channels, ",H,W], got ", x.ToString());
  if (rois.ranked && (rois.rank() != 2 || (rois[1].known() && !rois[1].Is(5))))
    return InvalidModel("rois must be [rois,5], got ", rois.ToString());
  c.Out("y", c.TypeOf("x"),
        Shape({rois.ranked ? rois[0] : Dim(), Dim(op.output_dim), Dim(op.group_size), Dim(op.group_size)}));
  return {};
}

// Returns the elements [first, last) of a bin along one axis.
std::pair<int64_t, int64_t> Bin(double low, double high, double scale, int64_t bin, int64_t bins,
                                int64_t length) {
  const double begin = std::round(low) * scale, end = (std::round(high) + 1) * scale;
  const double size = std::max(end - begin, 0.1) / static_cast<double>(bins),
               limit = static_cast<double>(length);
  const auto clamp = [&](double v) {
    return static_cast<int64_t>(std::isnan(v) ? 0 : std::clamp(v, 0.0, limit));
  };
  return {clamp(std::floor(static_cast<double>(bin) * size + begin)),
          clamp(std::ceil(static_cast<double>(bin + 1) * size + begin))};
}

Status Reference(const PsRoiPool& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &rois = c.In("rois");
  const auto region = ToDoubles(rois), image = ToDoubles(x);
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), bins = op.group_size;
  Tensor& y = c.Out("y", {rois.dim(0), op.output_dim, bins, bins});
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t column = i % bins, row = i / bins % bins, out = i / (bins * bins) % op.output_dim,
                  r = i / (bins * bins * op.output_dim);
    const double* roi = &region[static_cast<size_t>(5 * r)];
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.dim(0))))
      return InvalidArgument("rois[", r, "] refers to sample ", roi[0], " of a batch of ", x.dim(0));
    const auto [x0, x1] = Bin(roi[1], roi[3], op.spatial_scale, column, bins, width);
    const auto [y0, y1] = Bin(roi[2], roi[4], op.spatial_scale, row, bins, height);
    const int64_t plane =
        (static_cast<int64_t>(roi[0]) * channels + (out * bins + row) * bins + column) * height;
    double sum = 0;
    for (int64_t h = y0; h < y1; ++h)
      for (int64_t w = x0; w < x1; ++w) sum += image[static_cast<size_t>((plane + h) * width + w)];
    const int64_t count = std::max<int64_t>(y1 - y0, 0) * std::max<int64_t>(x1 - x0, 0);
    StoreDouble(y, i, count > 0 ? sum / static_cast<double>(count) : 0);
  }
  return {};
}

}  // namespace

TERN_OP(PsRoiPool) {
  return OpDef::Of<PsRoiPool>(
             "mean of each bin of each region [sample, x1, y1, x2, y2] of x, where each bin reads channels of its own")
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
