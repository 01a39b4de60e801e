// The calibration method kl: the threshold at which the distribution of the rounded values differs least from
// the original values.
#include <algorithm>
#include <cmath>

#include "compress/quantize/method.h"

namespace tern::compress {
namespace {

constexpr size_t kBins = 2048;

// Returns how often each magnitude occurs, in kBins bins up to `largest`. Zeros are left out, because every
// grid represents them exactly.
std::vector<double> Magnitudes(const Histogram& histogram, double largest) {
  std::vector<double> bins(kBins, 0);
  histogram.ForEach([&](double v, double n) {
    if (v == 0) return;
    const auto bin = static_cast<size_t>(std::fabs(v) / largest * kBins);
    bins[std::min(bin, kBins - 1)] += n;
  });
  return bins;
}

// Returns the Kullback-Leibler divergence of two distributions over the first `used` bins. In the first one,
// the last bin also counts all larger values. The second one has `levels` levels of several bins each, and
// the values of a level are spread evenly over its bins that are not empty.
double Divergence(const std::vector<double>& bins, size_t used, size_t levels) {
  double total = 0, kept = 0;
  for (size_t i = 0; i < bins.size(); ++i) total += bins[i];
  for (size_t i = 0; i < used; ++i) kept += bins[i];
  if (kept == 0) return INFINITY;
  double divergence = 0;
  for (size_t level = 0; level < levels; ++level) {
    const size_t first = level * used / levels, end = (level + 1) * used / levels;
    double sum = 0, filled = 0;
    for (size_t i = first; i < end; ++i) sum += bins[i], filled += bins[i] > 0;
    for (size_t i = first; i < end; ++i) {
      const double p = (bins[i] + (i + 1 == used ? total - kept : 0)) / total;
      const double q = bins[i] > 0 ? sum / filled / kept : 1e-9;
      if (p > 0) divergence += p * std::log(p / q);
    }
  }
  return divergence;
}

}  // namespace

Grid SearchKl(const Histogram& histogram, GridKind kind) {
  const Range full = histogram.range();
  const double largest = std::max(std::fabs(full.low), std::fabs(full.high));
  const bool one_side = !kind.symmetric && (full.low >= 0 || full.high <= 0);
  const size_t levels = size_t{1} << (kind.bits - (one_side ? 0 : 1));
  if (levels >= kBins || largest == 0) return GridOf(full, kind);
  const std::vector<double> bins = Magnitudes(histogram, largest);
  size_t best = kBins;
  double least = INFINITY;
  for (size_t used = levels; used <= kBins; used += 8) {
    const double divergence = Divergence(bins, used, levels);
    if (divergence < least) best = used, least = divergence;
  }
  const double threshold = largest * static_cast<double>(best) / kBins;
  return GridOf({std::max(full.low, -threshold), std::min(full.high, threshold)}, kind);
}

}  // namespace tern::compress
