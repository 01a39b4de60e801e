// The calibration methods mse, admm and eq, which search for a grid with a small error.
#include <algorithm>
#include <cmath>

#include "compress/quantize/method.h"

namespace tern::compress {
namespace {

constexpr double kLeastShare = 0.2;  // the narrowest range that is tried, as a fraction of the full one
constexpr int kSteps = 80;           // ranges tried between the full one and the narrowest
constexpr int kSearchRounds = 2;     // how often both ends are searched in turn
constexpr int kMostIterations = 50;  // of admm

double ShareOf(int step) { return 1 - (1 - kLeastShare) * step / kSteps; }

}  // namespace

// Scales both ends of the range by the factor with the least noise. Then, unless the grid is symmetric, moves
// the upper end and the lower end in turn, each to the place with the least noise. In a symmetric grid,
// moving one end alone may change nothing.
Grid SearchMse(const Histogram& histogram, GridKind kind) {
  const Range full = histogram.range();
  Range best = full;
  double least = ErrorOf(GridOf(best, kind), histogram).noise;
  const auto consider = [&](Range range) {
    const double noise = ErrorOf(GridOf(range, kind), histogram).noise;
    if (noise < least) best = range, least = noise;
  };
  for (int i = 1; i <= kSteps; ++i) consider({full.low * ShareOf(i), full.high * ShareOf(i)});
  for (int round = 0; round < kSearchRounds && !kind.symmetric; ++round)
    for (double Range::*end : {&Range::high, &Range::low}) {
      const bool outside = end == &Range::low ? full.low < 0 : full.high > 0;  // otherwise 0 is the end
      for (int i = 0; i <= kSteps && outside; ++i) {
        Range range = best;
        range.*end = full.*end * ShareOf(i);
        consider(range);
      }
    }
  return GridOf(best, kind);
}

// Tries the full range times several factors, and returns the grid with the largest cosine similarity between
// the values and the rounded values. The cosine ignores errors that only scale all values.
Grid SearchCosine(const Histogram& histogram, GridKind kind) {
  const Range full = histogram.range();
  Grid best = GridOf(full, kind);
  double most = ErrorOf(best, histogram).cosine();
  for (int i = 0; i <= kSteps; ++i) {
    const double share = ShareOf(i);
    const Grid grid = GridOf({full.low * share, full.high * share}, kind);
    const double cosine = ErrorOf(grid, histogram).cosine();
    if (cosine > most) best = grid, most = cosine;
  }
  return best;
}

// The projection step of ADMM: minimizes the sum of (v - scale * (q - zero))^2 alternately over the
// integers q for a fixed scale (rounding), and over the scale for fixed integers (least squares).
Grid SearchAdmm(const Histogram& histogram, GridKind kind) {
  Grid grid = GridOf(histogram.range(), kind);
  for (int i = 0; i < kMostIterations; ++i) {
    double product = 0, square = 0;
    histogram.ForEach([&](double v, double n) {
      const auto q = static_cast<double>(grid.Quantize(v) - grid.zero);
      product += n * v * q;
      square += n * q * q;
    });
    if (square == 0) break;
    const auto scale = static_cast<float>(product / square);
    if (!(scale > 0) || std::fabs(scale - grid.scale) <= 1e-6F * grid.scale) break;
    grid.scale = scale;
  }
  return grid;
}

}  // namespace tern::compress
