// Counts how often values occur, in bounded memory, without a range that is known in advance.
#pragma once
#include <cstdint>
#include <vector>

#include "compress/quantize/grid.h"

namespace tern::compress {

// The bins divide [-bound, bound) evenly. The bound is a power of two. It doubles when a larger value
// arrives, and pairs of bins are then merged, so that the order in which values arrive does not matter. Zeros
// are counted separately, because every grid represents them exactly.
class Histogram {
 public:
  static constexpr int kBins = 1 << 14;

  // Adds finite numbers. Counts NaN and infinities, which are not in the bins.
  void Add(const float* values, int64_t count);
  void Merge(const Histogram& other);

  int64_t count() const { return count_; }  // finite values
  int64_t not_finite() const { return not_finite_; }
  int64_t zeros() const { return zeros_; }
  Range range() const { return range_; }  // the least and the greatest value; {0, 0} if there is none
  double bin_width() const { return 2 * bound_ / kBins; }
  double bound() const { return bound_; }

  // Calls f(value, count) for the zeros and for the centre of each bin that is not empty, from low to high.
  template <class F> void ForEach(const F& f) const {
    for (int i = 0; i < kBins / 2; ++i)
      if (At(i)) f(Centre(i), static_cast<double>(At(i)));
    if (zeros_) f(0.0, static_cast<double>(zeros_));
    for (int i = kBins / 2; i < kBins; ++i)
      if (At(i)) f(Centre(i), static_cast<double>(At(i)));
  }
  // Returns the smallest x so that at least `share` of the values are not above x.
  double Quantile(double share) const;

  // Returns the fraction of the values in each of `count` equal parts of range().
  std::vector<double> Bars(size_t count) const;

  // Numbers returns the state, so that it can be stored. Parse restores such a state, and returns false if it
  // is damaged.
  std::vector<double> Numbers() const;
  bool Parse(const std::vector<double>& numbers);

 private:
  int64_t At(int bin) const { return bins_.empty() ? 0 : bins_[static_cast<size_t>(bin)]; }
  double Centre(int bin) const { return (bin + 0.5) * bin_width() - bound_; }
  void GrowTo(double largest);

  std::vector<int64_t> bins_;  // empty before the first value that is not 0
  double bound_ = 0;
  Range range_;
  int64_t count_ = 0, zeros_ = 0, not_finite_ = 0;
};

}  // namespace tern::compress
