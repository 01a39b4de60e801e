#include "data/image/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tern::data {
namespace {

double Sinc(double x) { return x == 0 ? 1 : std::sin(x * std::numbers::pi) / (x * std::numbers::pi); }

double Cubic(double x) {
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double Weight(Filter filter, double x) {
  if (filter == Filter::kBox) return x > -0.5 && x <= 0.5 ? 1 : 0;
  if (filter == Filter::kLanczos) return -3 <= x && x < 3 ? Sinc(x) * Sinc(x / 3) : 0;
  x = std::fabs(x);
  if (filter == Filter::kBicubic) return Cubic(x);
  if (x >= 1) return 0;
  if (filter == Filter::kBilinear) return 1 - x;
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));  // the constants have the precision of Pillow
}

double Support(Filter filter) {
  switch (filter) {
    case Filter::kBox:
      return 0.5;
    case Filter::kBicubic:
      return 2;
    case Filter::kLanczos:
      return 3;
    default:
      return 1;
  }
}

int32_t ToFixed(double weight) {
  return static_cast<int32_t>(weight * (1 << kWeightBits) + (weight < 0 ? -0.5 : 0.5));
}

// The window of one output before it is converted to fixed point.
struct Window {
  int first = 0;
  std::vector<double> weights;
};

void FillWindow(Filter filter, const TapRange& r, double scale, int output, Window& w) {
  const double stretch = std::max(scale, 1.0), reach = Support(filter) * stretch, shrink = 1 / stretch;
  const double centre = r.low + (output + 0.5) * scale;
  w.first = std::max(0, static_cast<int>(centre - reach + 0.5));
  const int end = std::min(r.from, static_cast<int>(centre + reach + 0.5));
  w.weights.clear();
  double total = 0;
  for (int k = w.first; k < end; ++k) {
    w.weights.push_back(Weight(filter, (k - centre + 0.5) * shrink));
    total += w.weights.back();
  }
  if (total != 0)
    for (double& weight : w.weights) weight /= total;
}

}  // namespace

Taps MakeTaps(Filter filter, const TapRange& r) {
  const double scale = static_cast<double>(r.high - r.low) / r.to,
               reach = Support(filter) * std::max(scale, 1.0);
  const size_t most = static_cast<size_t>(std::min(std::ceil(reach) * 2 + 1, r.from + 0.0));
  Taps taps;
  taps.outputs = r.end - r.begin;
  taps.stride = (most + kTapBlock - 1) / kTapBlock * kTapBlock;
  taps.low.resize(static_cast<size_t>(taps.outputs) * taps.stride);
  taps.high.resize(taps.low.size());
  Window window;
  for (int i = r.begin; i < r.end; ++i) {
    FillWindow(filter, r, scale, i, window);
    const size_t at = static_cast<size_t>(i - r.begin) * taps.stride;
    taps.first.push_back(window.first);
    taps.count.push_back(static_cast<int32_t>(window.weights.size()));
    for (size_t k = 0; k < window.weights.size(); ++k) {
      const int32_t fixed = ToFixed(window.weights[k]);
      taps.low[at + k] = static_cast<int16_t>(fixed & ((1 << kLowBits) - 1));
      taps.high[at + k] = static_cast<int16_t>(fixed >> kLowBits);
    }
  }
  return taps;
}

// Computes the positions by repeated addition of the scale, as Pillow does. A multiplication could round to
// another pixel.
std::vector<int32_t> NearestTaps(const TapRange& r) {
  const double scale = static_cast<double>(r.high - r.low) / r.to;
  double at = r.low + scale * 0.5;
  std::vector<int32_t> out;
  for (int i = 0; i < r.end; ++i, at += scale)
    if (i >= r.begin) out.push_back(std::clamp(static_cast<int32_t>(at), 0, r.from - 1));
  return out;
}

}  // namespace tern::data
