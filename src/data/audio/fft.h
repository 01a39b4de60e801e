// Fourier transforms of real signals of any length. Lengths whose prime factors are at most 31 use a
// mixed-radix Stockham transform. Other lengths use Bluestein's transform. All transforms work on eight
// signals at a time (lanes.h).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "data/audio/lanes.h"

namespace tern::data {

// The complex transform X[k] = sum x[j] exp(-2 pi i j k / n). Immutable, so threads can share it.
class Fft {
 public:
  explicit Fft(int64_t n);  // n >= 1
  // Transforms the n elements of `data` in place. `scratch` has scratch() elements.
  void Forward(ComplexLanes* data, ComplexLanes* scratch) const;
  int64_t scratch() const;

 private:
  struct Complex {
    double re, im;
  };
  struct Pass {
    int64_t radix, stride, groups;  // `groups` butterflies of `radix` elements, each for `stride` neighbours
    std::vector<Complex> twiddles;  // groups * radix
    std::vector<Complex> roots;     // the roots of unity of a radix above 5
  };
  void PlanPasses();
  void PlanBluestein();
  void Bluestein(ComplexLanes* data, ComplexLanes* scratch) const;
  template <int R> static void RunPass(const Pass& pass, const ComplexLanes* in, ComplexLanes* out);
  // Runs each pass from one array to the other.
  static void RunPasses(const Pass* begin, const Pass* end, ComplexLanes* from, ComplexLanes* to);
  static void RunGeneric(const Pass& pass, const ComplexLanes* in, ComplexLanes* out);

  const int64_t n_;
  std::vector<Pass> passes_;  // empty for Bluestein's transform
  std::unique_ptr<Fft> inner_;
  std::vector<Complex> chirp_, spectrum_;
};

// The transform of n real numbers to n / 2 + 1 bins, and the inverse transform.
class RealFft {
 public:
  explicit RealFft(int64_t n);
  int64_t bins() const { return n_ / 2 + 1; }
  int64_t scratch() const;  // elements of the scratch memory of Forward and Inverse
  void Forward(const Lanes* in, ComplexLanes* out, ComplexLanes* scratch) const;
  // Divides by n. Ignores the imaginary part of the first bin and, for an even n, of the last one.
  void Inverse(const ComplexLanes* in, Lanes* out, ComplexLanes* scratch) const;

 private:
  const int64_t n_;
  const bool even_;
  const Fft fft_;  // of length n / 2 for an even n, where pairs of reals are complex numbers
  std::vector<double> cos_, sin_;
};

}  // namespace tern::data
