// GridSample: samples an image at the positions of a grid.
#include <algorithm>
#include <cmath>

#include "ir/op_cost.h"
#include "ops/shape/axes.h"

namespace tern {
namespace {

enum class SampleMode { kLinear, kNearest, kCubic };
enum class SamplePadding { kZeros, kBorder, kReflection };

struct GridSample {
  SampleMode mode = SampleMode::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  bool align_corners = false;
  template <class V> void Visit(V& v) {
    v.Enum("mode", mode, {"linear", "nearest", "cubic"}, "how values between elements are interpolated");
    v.Enum("padding", padding, {"zeros", "border", "reflection"}, "the values of positions outside x");
    v("align_corners", align_corners,
      "the coordinates -1 and 1 are the centres of the outermost elements; otherwise their outer edges");
  }
};

Status Infer(const GridSample&, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &grid = c.ShapeOf("grid");
  if (x.ranked && x.rank() < 3) return InvalidModel("x must be [N,C,…], got ", x.ToString());
  if (x.ranked && grid.ranked && x.rank() != grid.rank())
    return InvalidModel("x has rank ", x.rank(), ", but grid has rank ", grid.rank());
  const int rank = x.ranked ? x.rank() : grid.rank();
  if (grid.ranked && grid[-1].known() && !grid[-1].Is(rank - 2))
    return InvalidModel("grid's last dimension must be ", rank - 2, ", got ", grid[-1].value());
  if (x.ranked && grid.ranked && x[0].known() && grid[0].known() && x[0] != grid[0])
    return InvalidModel("x.dim[0]=", x[0].value(), ", but grid.dim[0]=", grid[0].value());
  if (rank < 0) {
    c.Out("y", c.TypeOf("x"), Shape());
    return {};
  }
  std::vector<Dim> dims(static_cast<size_t>(rank));
  if (x.ranked) dims[0] = x[0], dims[1] = x[1];
  for (int i = 2; grid.ranked && i < rank; ++i) dims[static_cast<size_t>(i)] = grid[i - 1];
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

struct Tap {
  int64_t position;  // -1 if the tap is outside the image
  double weight;
};

// Mirrors x at low and high until it is between them.
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const double beyond = x < low ? low - x : x - high, reflections = std::floor(beyond / range),
               remainder = beyond - reflections * range;
  const bool even = std::fmod(reflections, 2) == 0;
  return (x < low) == even ? low + remainder : high - remainder;
}

struct Axis {
  const GridSample& op;
  int64_t length;

  double low() const { return op.align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(length) - (op.align_corners ? 1 : 0.5); }

  // Maps a grid coordinate in [-1, 1] to a position along the axis, and applies the padding mode. The
  // position is rounded to single precision, because the grid usually is f32.
  double Position(double normal) const {
    const auto n = static_cast<double>(length);
    double x = static_cast<float>(op.align_corners ? (normal + 1) / 2 * (n - 1) : ((normal + 1) * n - 1) / 2);
    if (op.mode == SampleMode::kNearest) x = std::nearbyint(x);
    constexpr double kFar = 1e9;
    x = std::isnan(x) ? -kFar : std::clamp(x, -kFar, kFar);
    if (x >= low() && x <= high()) return x;
    // In cubic mode, the position is not clamped here, because Element clamps each tap.
    if (op.padding == SamplePadding::kBorder)
      return op.mode == SampleMode::kCubic ? x : std::clamp(x, 0.0, n - 1);
    return op.padding == SamplePadding::kReflection ? Reflect(x, low(), high()) : x;
  }

  int64_t Element(double at) const {
    const auto last = static_cast<double>(length - 1);
    if (op.padding == SamplePadding::kZeros) return at < 0 || at > last ? -1 : static_cast<int64_t>(at);
    if (op.padding == SamplePadding::kReflection) at = std::trunc(Reflect(at, low(), high()));
    return static_cast<int64_t>(std::clamp(at, 0.0, last));
  }

  std::vector<Tap> Taps(double normal) const {
    const double x = Position(normal), left = std::floor(x), d = x - left;
    if (op.mode == SampleMode::kNearest) return {{Element(x), 1}};
    if (op.mode == SampleMode::kLinear) return {{Element(left), 1 - d}, {Element(left + 1), d}};
    constexpr double kA = -0.75;
    const auto far = [&](double t) { return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA; };
    const auto near = [&](double t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; };
    return {{Element(left - 1), far(d + 1)},
            {Element(left), near(d)},
            {Element(left + 1), near(1 - d)},
            {Element(left + 2), far(2 - d)}};
  }
};

// Returns the weighted sum over the taps of `axis` and all axes after it.
double Sample(const double* image, const Dims& dims, const std::vector<std::vector<Tap>>& taps, size_t axis,
              int64_t offset) {
  if (axis == taps.size()) return image[offset];
  double sum = 0;
  for (const Tap& tap : taps[axis])
    if (tap.position >= 0)
      sum += tap.weight * Sample(image, dims, taps, axis + 1, offset * dims[axis + 2] + tap.position);
  return sum;
}

Status Reference(const GridSample& op, EvalContext& c) {
  const Tensor &x = c.In("x"), &grid = c.In("grid");
  const auto spatial = static_cast<size_t>(x.rank() - 2);
  Dims dims = {x.dim(0), x.dim(1)};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  Tensor& y = c.Out("y", dims);
  if (y.size() == 0) return {};
  if (x.size() == 0) return InvalidArgument("cannot sample an empty image: x is ", x.Describe());
  const auto image = ToDoubles(x);
  const int64_t points = CountBetween(dims, 2, y.rank()), plane = CountBetween(x.dims(), 2, x.rank());
  std::vector<std::vector<Tap>> taps(spatial);
  for (int64_t n = 0; n < dims[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      // Coordinate 0 of a grid point belongs to the last axis.
      for (size_t a = 0; a < spatial; ++a) {
        const double normal = LoadDouble(
            grid, (n * points + p) * static_cast<int64_t>(spatial) + static_cast<int64_t>(spatial - 1 - a));
        taps[a] = Axis{op, x.dims()[a + 2]}.Taps(normal);
      }
      for (int64_t ch = 0; ch < dims[1]; ++ch) {
        const int64_t channel = n * dims[1] + ch;
        StoreDouble(y, channel * points + p,
                    Sample(&image[static_cast<size_t>(channel * plane)], x.dims(), taps, 0, 0));
      }
    }
  return {};
}

}  // namespace

TERN_OP(GridSample) {
  return OpDef::Of<GridSample>("x sampled at the positions of grid, which range from -1 to 1 along each axis")
      .In("x", kNumbers)
      .In("grid", kFloats)
      .Out("y", kNumbers)
      .Flops(PerOutput(8))
      .Batch(kNoKernel)
      .Axes(No{"the grid depends on the order of axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
