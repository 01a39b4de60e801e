// RoiAlign: pools regions of a feature map to a fixed size, with bilinear sampling.
#include <algorithm>
#include <cmath>

#include "ir/op_cost.h"
#include "ops/shape/axes.h"

namespace tern {
namespace {

enum class RoiMode { kAverage, kMax };

struct RoiAlign {
  RoiMode mode = RoiMode::kAverage;
  int64_t height = 1, width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1;
  bool half_pixel = true;
  template <class V> void Visit(V& v) {
    v.Enum("mode", mode, {"avg", "max"}, "how the samples of a bin are combined");
    v("height", height, "number of bins along y");
    v("width", width, "number of bins along x");
    v("sampling_ratio", sampling_ratio,
      "samples per bin along each side; 0 means that the number is computed from the bin's size");
    v("spatial_scale", spatial_scale, "factor that converts coordinates of rois to coordinates of x");
    v("half_pixel", half_pixel, "shift coordinates by half a pixel");
  }
};

Status Infer(const RoiAlign& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &rois = c.ShapeOf("rois"), &batch = c.ShapeOf("batch_indices");
  if (op.height < 1 || op.width < 1)
    return InvalidModel("the output cannot be ", op.height, " by ", op.width, " bins");
  if (op.sampling_ratio < 0)
    return InvalidModel("sampling_ratio is ", op.sampling_ratio, ", but must not be negative");
  if (x.ranked && x.rank() != 4) return InvalidModel("x must be [N,C,H,W], got ", x.ToString());
  if (rois.ranked && (rois.rank() != 2 || (rois[1].known() && !rois[1].Is(4))))
    return InvalidModel("rois must be [rois,4], got ", rois.ToString());
  if (batch.ranked && batch.rank() != 1)
    return InvalidModel("batch_indices must have rank 1, got ", batch.ToString());
  if (rois.ranked && batch.ranked && rois[0].known() && batch[0].known() && rois[0] != batch[0])
    return InvalidModel(rois[0].value(), " rois, but ", batch[0].value(), " batch_indices");
  const Dim count = rois.ranked ? rois[0] : batch.ranked ? batch[0] : Dim();
  c.Out("y", c.TypeOf("x"), Shape({count, x.ranked ? x[1] : Dim(), op.height, op.width}));
  return {};
}

// A sample's position along one axis: the neighbours `low` and `high`, and the weight of `high`. A position
// outside the feature map is not valid.
struct SamplePosition {
  bool valid = false;
  int64_t low = 0, high = 0;
  double weight = 0;
};

SamplePosition PositionAt(double at, int64_t length) {
  SamplePosition p;
  if (!(at >= -1 && at <= static_cast<double>(length))) return p;
  p.valid = true;
  at = std::max(at, 0.0);
  p.low = std::min(static_cast<int64_t>(at), length - 1);
  p.high = std::min(p.low + 1, length - 1);
  p.weight = p.low == length - 1 ? 0 : at - static_cast<double>(p.low);
  return p;
}

// A region along one axis: start, bin length, samples per bin.
struct Span {
  double start = 0, bin = 0;
  int64_t samples = 0;
};

Result<Span> SpanOf(const RoiAlign& op, double begin, double end, int64_t bins) {
  const double shift = op.half_pixel ? 0.5 : 0;
  Span s;
  s.start = begin * op.spatial_scale - shift;
  double length = end * op.spatial_scale - shift - s.start;
  if (!op.half_pixel) length = std::max(length, 1.0);
  s.bin = length / static_cast<double>(bins);
  constexpr double kMaxSamples = 2048;
  const double wanted = op.sampling_ratio > 0 ? static_cast<double>(op.sampling_ratio) : std::ceil(s.bin);
  if (!(wanted <= kMaxSamples))
    return InvalidArgument("a region from ", begin, " to ", end, " needs ", wanted,
                           " samples per bin, but the limit is ", kMaxSamples);
  s.samples = static_cast<int64_t>(std::max(wanted, 0.0));
  return s;
}

double PoolBin(const RoiAlign& op, const double* image, int64_t width, const std::vector<SamplePosition>& ys,
               const std::vector<SamplePosition>& xs) {
  double sum = 0, best = 0;
  bool first = true;
  for (const SamplePosition& y : ys)
    for (const SamplePosition& x : xs) {
      const bool valid = y.valid && x.valid;
      const auto at = [&](int64_t r, int64_t k, double w) { return valid ? w * image[r * width + k] : 0; };
      const double corners[4] = {
          at(y.low, x.low, (1 - y.weight) * (1 - x.weight)), at(y.low, x.high, (1 - y.weight) * x.weight),
          at(y.high, x.low, y.weight * (1 - x.weight)), at(y.high, x.high, y.weight * x.weight)};
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      const double top = *std::max_element(corners, corners + 4);
      best = first ? top : std::max(best, top);
      first = false;
    }
  if (op.mode == RoiMode::kMax) return best;
  return sum / static_cast<double>(std::max<size_t>(1, ys.size() * xs.size()));
}

std::vector<SamplePosition> BinPositions(const Span& span, int64_t bin, int64_t length) {
  std::vector<SamplePosition> positions;
  for (int64_t i = 0; i < span.samples; ++i) {
    const double within = (static_cast<double>(i) + 0.5) * span.bin / static_cast<double>(span.samples);
    positions.push_back(PositionAt(span.start + static_cast<double>(bin) * span.bin + within, length));
  }
  return positions;
}

Status Reference(const RoiAlign& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto rois = c.Doubles("rois");
  const auto batch = c.Longs("batch_indices");
  const int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3), count = c.In("rois").dim(0);
  Tensor& y = c.Out("y", {count, channels, op.height, op.width});
  if (y.size() > 0 && height * width == 0)
    return InvalidArgument("cannot pool an empty feature map: x is ", x.Describe());
  const auto image = ToDoubles(x);
  int64_t to = 0;
  for (int64_t r = 0; r < count; ++r) {
    const double* roi = &rois[static_cast<size_t>(4 * r)];
    TERN_ASSIGN(const int64_t n, NormalizeIndex(batch[static_cast<size_t>(r)], x.dim(0), 0));
    TERN_ASSIGN(const Span across, SpanOf(op, roi[0], roi[2], op.width));
    TERN_ASSIGN(const Span down, SpanOf(op, roi[1], roi[3], op.height));
    for (int64_t ch = 0; ch < channels; ++ch)
      for (int64_t i = 0; i < op.height; ++i) {
        const auto ys = BinPositions(down, i, height);
        for (int64_t j = 0; j < op.width; ++j)
          StoreDouble(y, to++,
                      PoolBin(op, &image[static_cast<size_t>((n * channels + ch) * height * width)], width,
                              ys, BinPositions(across, j, width)));
      }
  }
  return {};
}

}  // namespace

TERN_OP(RoiAlign) {
  return OpDef::Of<RoiAlign>(
             "each region [x1, y1, x2, y2] of x[batch_indices] pooled to height by width bins")
      .In("x", kFloats)
      .In("rois", kFloats)
      .Setting("batch_indices", kIndices)
      .Out("y", kFloats)
      .Flops(PerOutput(8))
      .Batch(No{"a region may be in any item"})
      .Axes(No{"the regions depend on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
