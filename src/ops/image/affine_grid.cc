// AffineGrid: the sampling grid of an affine map, for GridSample.
#include "ops/shape/axes.h"
#include "ops/shape/each_index.h"

namespace tern {
namespace {

struct AffineGrid {
  bool align_corners = false;
  template <class V> void Visit(V& v) {
    v("align_corners", align_corners,
      "the coordinates -1 and 1 are the centres of the outermost elements; otherwise their outer edges");
  }
};

// Returns the shape of the grid: [N, H, W, 2] for size [N, C, H, W], and [N, D, H, W, 3] for size [N, C, D,
// H, W].
Result<Shape> OutShape(const Shape& theta, const Content& size) {
  if (size.size() != 4 && size.size() != 5)
    return InvalidModel("size must have 4 or 5 entries, got ", size.size());
  const int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  const std::vector<Dim> wanted = {size[0], spatial, spatial + 1};
  for (int i = 0; theta.ranked && i < 3; ++i)
    if (theta.rank() != 3 || (theta[i].known() && wanted[static_cast<size_t>(i)].known() &&
                              theta[i] != wanted[static_cast<size_t>(i)]))
      return InvalidModel("theta must be ", Shape(wanted).ToString(), ", got ", theta.ToString());
  std::vector<Dim> dims = {size[0]};
  for (size_t i = 2; i < size.size(); ++i) {
    if (size[i].known() && size[i].value() < 0)
      return InvalidModel("size[", i, "] is ", size[i].value(), ", but must not be negative");
    dims.push_back(size[i]);
  }
  dims.push_back(spatial);
  return Shape(std::move(dims));
}

Status Infer(const AffineGrid&, InferContext& c) {
  TERN_TRY(RequireVector(c, "size"));
  Shape y;
  if (auto size = c.ContentOf("size")) {
    TERN_ASSIGN(y, OutShape(c.ShapeOf("theta"), *size));
  } else if (const int n = KnownLength(c.ShapeOf("size")); n >= 0) {
    TERN_ASSIGN(y, OutShape(c.ShapeOf("theta"), Content(static_cast<size_t>(n))));
  }
  c.Out("grid", c.TypeOf("theta"), std::move(y));
  return {};
}

double Coordinate(const AffineGrid& op, int64_t i, int64_t length) {
  const auto x = static_cast<double>(i), n = static_cast<double>(length);
  if (op.align_corners) return length > 1 ? -1 + 2 * x / (n - 1) : -1;
  return -1 + (2 * x + 1) / n;
}

Status Reference(const AffineGrid& op, EvalContext& c) {
  const Tensor& theta = c.In("theta");
  const auto longs = c.Longs("size");
  TERN_ASSIGN(const Shape shape, OutShape(Shape::Of(theta.dims()), Content(longs.begin(), longs.end())));
  const Dims dims = shape.Concrete();
  const auto spatial = static_cast<size_t>(dims.back());
  Tensor& grid = c.Out("grid", dims);
  const auto matrix = ToDoubles(theta);
  const Dims points(dims.begin(), dims.end() - 1);
  EachIndex(points, [&](int64_t flat, const Dims& at) {
    for (size_t row = 0; row < spatial; ++row) {
      const double* m = &matrix[(static_cast<size_t>(at[0]) * spatial + row) * (spatial + 1)];
      double sum = m[spatial];
      // Column 0 of theta belongs to the last axis.
      for (size_t a = 0; a < spatial; ++a) sum += m[a] * Coordinate(op, at[spatial - a], points[spatial - a]);
      StoreDouble(grid, flat * static_cast<int64_t>(spatial) + static_cast<int64_t>(row), sum);
    }
  });
  return {};
}

}  // namespace

TERN_OP(AffineGrid) {
  return OpDef::Of<AffineGrid>(
             "for each point (x, y[, z]) of an image of the given size, theta times (x, y[, z], 1)")
      .In("theta", kFloats)
      .Setting("size", kIndices)
      .Out("grid", kFloats)
      .Flops(kNoKernel)
      .Batch(kNoKernel)
      .Axes(No{"the result contains positions along axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
