#include "ops/image/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tern {
namespace {

double CubicWeight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

double LinearWeight(double x) { return std::max(0.0, 1 - std::abs(x)); }

float Crop(const ResizeAxis& axis, float x) {
  const auto last = static_cast<float>(axis.input - 1);
  const auto begin = static_cast<float>(axis.begin), end = static_cast<float>(axis.end);
  if (axis.output <= 1) return 0.5f * (begin + end) * last;
  return begin * last + x * (end - begin) * last / static_cast<float>(axis.output - 1);
}

}  // namespace

std::vector<size_t> ShrinkingFirst(const std::vector<ResizeAxis>& axes) {
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t i) { return axes[i].output < axes[i].input; });
  return order;
}

double SourcePosition(ResizeCoordinates coordinates, const ResizeAxis& axis, int64_t at) {
  const auto x = static_cast<float>(at), scale = static_cast<float>(axis.scale);
  const auto input = static_cast<float>(axis.input), output = static_cast<float>(axis.output);
  const float wanted = scale * input;  // the output's length before rounding to an integer
  // For kAlignCorners, the ONNX text and all runtimes use the rounded length. ONNX's test data uses the
  // unrounded length if the scale is below 1, and this code follows the test data.
  const float length = axis.sized || scale >= 1 ? output : wanted;
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (x + 0.5f) / scale - 0.5f;
    case ResizeCoordinates::kHalfPixelSymmetric:
      return input / 2 * (1 - output / wanted) + (x + 0.5f) / scale - 0.5f;
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.output > 1 ? (x + 0.5f) / scale - 0.5f : 0;
    case ResizeCoordinates::kAlignCorners:
      return axis.output == 1 ? 0 : x * (input - 1) / (length - 1);
    case ResizeCoordinates::kAsymmetric:
      return x / scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (x + 0.5f) / scale;
    case ResizeCoordinates::kTfCropAndResize:
      return Crop(axis, x);
  }
  return 0;
}

bool OutsideCrop(ResizeCoordinates coordinates, const ResizeAxis& axis, double position) {
  return coordinates == ResizeCoordinates::kTfCropAndResize &&
         !(position >= 0 && position <= static_cast<double>(axis.input - 1));
}

int64_t NearestPosition(ResizeNearest nearest, const ResizeAxis& axis, double position) {
  double at = 0;
  switch (nearest) {
    case ResizeNearest::kRoundPreferFloor:
      at = std::ceil(position - 0.5);
      break;
    case ResizeNearest::kRoundPreferCeil:
      at = std::floor(position + 0.5);
      break;
    case ResizeNearest::kFloor:
      at = std::floor(position);
      break;
    case ResizeNearest::kCeil:
      at = std::ceil(position);
      break;
    case ResizeNearest::kSimple:
      at = axis.scale < 1 ? std::ceil(position) : std::floor(position);
      break;
  }
  return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.input - 1)));
}

Result<std::vector<Tap>> TapsAt(const ResizeFilter& filter, const ResizeAxis& axis, double position) {
  const bool cubic = filter.mode == ResizeMode::kCubic;
  // If the axis shrinks, the antialiasing filter is 1 / scale times wider.
  const double shrink = filter.antialias ? std::min(axis.scale, 1.0) : 1;
  const double first = std::floor((cubic ? -2 : -1) / shrink) + 1, count = 2 - 2 * first;
  const auto input = static_cast<double>(axis.input);
  if (!(count <= 8 * input + 64) || !(std::abs(position) <= 1e15))
    return InvalidArgument("scale ", axis.scale, " is out of proportion to a dimension of ", axis.input);
  // `left` is strictly less than `position`, so `distance` is in (0, 1].
  const double left = std::ceil(position) - 1, distance = position - left;
  std::vector<Tap> taps;
  double sum = 0;
  for (double i = first; i < first + count; ++i) {
    const double d = (i - distance) * shrink, at = left + i;
    double weight = cubic ? CubicWeight(d, filter.cubic_a) : LinearWeight(d);
    if (filter.exclude_outside && (at < 0 || at >= input)) weight = 0;
    sum += weight;
    taps.push_back({static_cast<int64_t>(std::clamp(at, 0.0, input - 1)), weight});
  }
  if ((filter.antialias || filter.exclude_outside) && sum != 0)
    for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

}  // namespace tern
