// A grid: the real numbers that the integers of a quantized tensor represent.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace tern::compress {

struct Range {
  double low = 0, high = 0;
};

// Integer q represents (q - zero) * scale.
struct Grid {
  DType dtype = DType::kU8;
  float scale = 1;
  int32_t zero = 0;

  int64_t lowest() const;
  int64_t highest() const;
  // Returns the integer nearest to v / scale, plus `zero`, saturated. Ties go to the even quotient, as in the
  // op Quantize.
  int64_t Quantize(double v) const;
  double Dequantize(int64_t q) const { return static_cast<double>(q - zero) * scale; }
  double Round(double v) const { return Dequantize(Quantize(v)); }
  Range range() const { return {Dequantize(lowest()), Dequantize(highest())}; }
};

// How the values of activations become integers.
struct GridKind {
  int bits = 8;            // 8 or 16
  bool symmetric = false;  // the zero point is in the middle; otherwise the grid covers the range tightly

  DType dtype() const;
};

// Returns the grid that covers the range and 0. The range must be finite. If it is {0, 0}, the scale is 1.
Grid GridOf(Range range, GridKind kind);

}  // namespace tern::compress
