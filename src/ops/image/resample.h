// Resamples one axis: finds the input positions and weights that contribute to an output position.
#pragma once
#include <vector>

#include "base/status.h"

namespace tern {

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};
enum class ResizeNearest {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil,
  kSimple
};  // kSimple: ceil if the axis shrinks, floor if it grows

struct ResizeFilter {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_a = -0.75f;
};

// One axis. `input` and `output` are its lengths. `begin` and `end` are the ends of the crop, as fractions of
// the input.
struct ResizeAxis {
  int64_t input = 0, output = 0;
  double scale = 1;
  double begin = 0, end = 1;
  bool sized = false;  // true if the output length is given, false if it is computed from the scale

  bool identity() const {
    return input == output && scale > 1 - 1e-9 && scale < 1 + 1e-9 && begin == 0 && end == 1;
  }
};

// Returns the order in which the axes are resampled. Axes that shrink are first, so that no intermediate
// result is larger than both input and output.
std::vector<size_t> ShrinkingFirst(const std::vector<ResizeAxis>& axes);

// Returns the input position of output position x. It is computed in single precision, so that ties are
// decided as in other runtimes.
double SourcePosition(ResizeCoordinates coordinates, const ResizeAxis& axis, int64_t x);
// Returns true if the result at this position is the extrapolation value: the position is outside the input,
// and the coordinates are kTfCropAndResize.
bool OutsideCrop(ResizeCoordinates coordinates, const ResizeAxis& axis, double position);
// Returns the nearest input position, clamped to the input.
int64_t NearestPosition(ResizeNearest nearest, const ResizeAxis& axis, double position);

struct Tap {
  int64_t position;
  double weight;
};
// Returns the taps for an input position, which may be a fraction. The result at that position is the sum of
// the taps' elements times their weights. Fails if more than 8 * input + 64 taps would be needed, or if the
// position is beyond 1e15.
Result<std::vector<Tap>> TapsAt(const ResizeFilter& filter, const ResizeAxis& axis, double position);

}  // namespace tern
