#include "compress/quantize/histogram.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {

void Histogram::GrowTo(double largest) {
  if (largest == 0) return;
  if (bins_.empty()) {
    bins_.assign(kBins, 0);
    bound_ = std::ldexp(1.0, std::ilogb(largest) + 1);
  }
  while (largest >= bound_) {
    // Merges bins 2i and 2i+1. The merged bins are the middle half of the new range, which is twice as wide.
    std::vector<int64_t> merged(kBins, 0);
    for (size_t i = 0; i < kBins; ++i) merged[kBins / 4 + i / 2] += bins_[i];
    bins_ = std::move(merged);
    bound_ *= 2;
  }
}

void Histogram::Add(const float* values, int64_t count) {
  float low = 0, high = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float v = values[i];
    if (!std::isfinite(v)) continue;
    low = finite ? std::min(low, v) : v;
    high = finite ? std::max(high, v) : v;
    ++finite;
  }
  not_finite_ += count - finite;
  if (!finite) return;
  range_ = count_ ? Range{std::min<double>(range_.low, low), std::max<double>(range_.high, high)}
                  : Range{low, high};
  count_ += finite;
  GrowTo(std::max(std::fabs(low), std::fabs(high)));
  if (bins_.empty()) {
    zeros_ += finite;
    return;
  }
  const double per_unit = 1 / bin_width();
  for (int64_t i = 0; i < count; ++i) {
    const float v = values[i];
    if (v == 0) {
      ++zeros_;
    } else if (std::isfinite(v)) {
      const auto bin = static_cast<int>((v + bound_) * per_unit);
      ++bins_[static_cast<size_t>(std::min(bin, kBins - 1))];
    }
  }
}

void Histogram::Merge(const Histogram& other) {
  not_finite_ += other.not_finite_;
  if (!other.count_) return;
  range_ = count_ ? Range{std::min(range_.low, other.range_.low), std::max(range_.high, other.range_.high)}
                  : other.range_;
  count_ += other.count_;
  zeros_ += other.zeros_;
  if (other.bins_.empty()) return;
  Histogram grown = other;
  const double largest = std::max(bound_, other.bound_) / 2;
  GrowTo(largest);
  grown.GrowTo(largest);
  for (size_t i = 0; i < kBins; ++i) bins_[i] += grown.bins_[i];
}

double Histogram::Quantile(double share) const {
  const double wanted = share * static_cast<double>(count_);
  double below = 0, found = range_.high;
  bool done = false;
  ForEach([&](double value, double n) {
    if (done) return;
    below += n;
    if (below < wanted) return;
    found = value == 0 ? 0 : value + bin_width() / 2;
    done = true;
  });
  return std::clamp(found, range_.low, range_.high);
}

std::vector<double> Histogram::Bars(size_t count) const {
  std::vector<double> bars(count, 0);
  const double width = range_.high - range_.low;
  ForEach([&](double value, double n) {
    const double at = width > 0 ? (value - range_.low) / width * static_cast<double>(count) : 0;
    bars[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(count - 1)))] +=
        n / static_cast<double>(count_);
  });
  return bars;
}

std::vector<double> Histogram::Numbers() const {
  std::vector<double> numbers = {bound_,
                                 range_.low,
                                 range_.high,
                                 static_cast<double>(count_),
                                 static_cast<double>(zeros_),
                                 static_cast<double>(not_finite_)};
  numbers.insert(numbers.end(), bins_.begin(), bins_.end());
  return numbers;
}

bool Histogram::Parse(const std::vector<double>& numbers) {
  constexpr size_t kHead = 6;
  if (numbers.size() != kHead && numbers.size() != kHead + kBins) return false;
  for (double v : numbers)
    if (!std::isfinite(v)) return false;
  bound_ = numbers[0];
  range_ = {numbers[1], numbers[2]};
  const auto integer = [&](size_t i) { return static_cast<int64_t>(std::clamp(numbers[i], 0.0, 1e15)); };
  count_ = integer(3);
  zeros_ = integer(4);
  not_finite_ = integer(5);
  bins_.clear();
  for (size_t i = kHead; i < numbers.size(); ++i) bins_.push_back(integer(i));
  return bins_.empty() || (bound_ > 0 && std::exp2(std::ilogb(bound_)) == bound_);
}

}  // namespace tern::compress
