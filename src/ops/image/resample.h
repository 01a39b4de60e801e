// Resampling one axis: which input positions make an output position, and with which weights.
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
};  // simple: ceil to shrink, floor to grow

struct ResizeFilter {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_a = -0.75f;
};

// One axis: its lengths, the scale between them and the part of the input that is shown.
struct ResizeAxis {
  int64_t input = 0, output = 0;
  double scale = 1;
  double begin = 0, end = 1;
  bool sized = false;  // the length was asked for; otherwise it follows from the scale

  bool identity() const {
    return input == output && scale > 1 - 1e-9 && scale < 1 + 1e-9 && begin == 0 && end == 1;
  }
};

// Resampled axis by axis in this order, what lies between is no larger than the input or the output.
std::vector<size_t> ShrinkingFirst(const std::vector<ResizeAxis>& axes);

// The position in the input that output position x shows. In single precision: where two elements are equally
// near, models expect the choice that every other runtime's floats make.
double SourcePosition(ResizeCoordinates coordinates, const ResizeAxis& axis, int64_t x);
// tf_crop_and_resize shows the extrapolation value there.
bool OutsideCrop(ResizeCoordinates coordinates, const ResizeAxis& axis, double position);
// The nearest input position, inside the input.
int64_t NearestPosition(ResizeNearest nearest, const ResizeAxis& axis, double position);

struct Tap {
  int64_t position;
  double weight;
};
// Error when the filter would be wider than the input can call for.
Result<std::vector<Tap>> TapsAt(const ResizeFilter& filter, const ResizeAxis& axis, double position);

}  // namespace tern
