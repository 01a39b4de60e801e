#include "server/scheduler/latency_model.h"

#include <algorithm>
#include <cmath>

namespace tern::server {
namespace {

constexpr double kDecay = 0.1;  // weight of a new value
constexpr double kVariationDecay = 0.05;
// Weight of a new value if the last one is older than kStale: the machine may have become faster or slower.
constexpr double kStaleDecay = 0.5;
constexpr std::chrono::seconds kStale{1};
// A size without a measurement in this time is estimated.
constexpr std::chrono::seconds kFresh{5};

}  // namespace

LatencyModel::LatencyModel(int max_batch_size) : sizes_(static_cast<size_t>(std::max(1, max_batch_size))) {}

void LatencyModel::Record(int batch_size, std::chrono::nanoseconds duration, Clock::time_point now) {
  Size& size =
      sizes_[static_cast<size_t>(std::clamp<int>(batch_size, 1, static_cast<int>(sizes_.size()))) - 1];
  const double value = std::max(1.0, static_cast<double>(duration.count()));
  const auto age = now - size.last;
  const bool never = size.mean == 0;
  if (age > kFresh) size.count = 0;
  if (size.count > 0) variation_ += kVariationDecay * (std::abs(value - size.mean) / size.mean - variation_);
  // The first execution of a size takes longer if the back end prepares itself for that size. So the second
  // one replaces it.
  const double few = size.first ? 1 : 1.0 / (size.count + 1);
  size.mean += (value - size.mean) * std::max(age > kStale ? kStaleDecay : kDecay, few);
  size.first = never;
  ++size.count;
  ++total_;
  size.last = now_ = now;
}

bool LatencyModel::Known(int batch_size, int measurements) const {
  const Size& size = sizes_[static_cast<size_t>(batch_size) - 1];
  return size.count >= measurements && now_ - size.last <= kFresh;
}

double LatencyModel::Mean(int batch_size) const {
  const int max = static_cast<int>(sizes_.size());
  const int wanted = std::clamp(batch_size, 1, max);
  const auto at = [&](int b) { return sizes_[static_cast<size_t>(b) - 1].mean; };
  int below = wanted, above = wanted;
  while (below >= 1 && !Known(below)) --below;
  while (above <= max && !Known(above)) ++above;
  if (below < 1 && above > max) return 0;
  // Assumes that the time grows at most in proportion to the size, and does not shrink.
  if (above > max) return at(below) * wanted / below;
  if (below < 1 || below == above) return at(above);
  const double part = static_cast<double>(wanted - below) / (above - below);
  return at(below) + (at(above) - at(below)) * part;
}

}  // namespace tern::server
