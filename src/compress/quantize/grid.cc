#include "compress/quantize/grid.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"

namespace tern::compress {
namespace {

// Smaller scales are replaced by this one, so that quotients and products of scales stay normal f32 numbers.
constexpr double kLeastGridScale = 1e-12;

}  // namespace

int64_t Grid::lowest() const { return IsSignedInt(dtype) ? -(int64_t{1} << (BitWidth(dtype) - 1)) : 0; }

int64_t Grid::highest() const { return (int64_t{1} << (BitWidth(dtype) - (IsSignedInt(dtype) ? 1 : 0))) - 1; }

int64_t Grid::Quantize(double v) const {
  const double q = std::nearbyint(static_cast<float>(v / static_cast<double>(scale))) + zero;
  return static_cast<int64_t>(std::clamp(q, static_cast<double>(lowest()), static_cast<double>(highest())));
}

DType GridKind::dtype() const {
  if (bits == 16) return symmetric ? DType::kI16 : DType::kU16;
  return DType::kU8;
}

Grid GridOf(Range range, GridKind kind) {
  TERN_CHECK(std::isfinite(range.low) && std::isfinite(range.high));
  Grid grid{.dtype = kind.dtype()};
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const auto lowest = static_cast<double>(grid.lowest()), highest = static_cast<double>(grid.highest());
  if (kind.symmetric) grid.zero = static_cast<int32_t>((grid.lowest() + grid.highest() + 1) / 2);
  if (low == high) return grid;
  const double scale =
      kind.symmetric ? std::max(-low, high) / (highest - grid.zero) : (high - low) / (highest - lowest);
  grid.scale = static_cast<float>(std::max(scale, kLeastGridScale));
  if (!kind.symmetric)
    grid.zero = static_cast<int32_t>(std::clamp(std::nearbyint(lowest - low / grid.scale), lowest, highest));
  return grid;
}

}  // namespace tern::compress
