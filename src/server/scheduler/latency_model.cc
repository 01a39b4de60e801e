#include "server/scheduler/latency_model.h"

#include <algorithm>
#include <cmath>

namespace tern::server {
namespace {

constexpr double kDecay = 0.1;  // weight of a new value
// A size without a measurement in this time is estimated.
constexpr std::chrono::seconds kFresh{5};
constexpr std::chrono::milliseconds kRateWindow{20};  // window in which the arrival rate is measured
constexpr double kMargin = 0.9;                       // plans use this fraction of the goal
constexpr double kSpare = 1.15;                       // required capacity divided by the arrival rate

double Nanoseconds(Clock::duration duration) {
  return static_cast<double>(std::chrono::nanoseconds(duration).count());
}

Clock::duration ToDuration(double ns) { return std::chrono::nanoseconds(static_cast<int64_t>(ns)); }

}  // namespace

LatencyModel::LatencyModel(int max_batch_size) : sizes_(static_cast<size_t>(std::max(1, max_batch_size))) {}

void LatencyModel::Record(int batch_size, std::chrono::nanoseconds duration, Clock::time_point now) {
  Size& size =
      sizes_[static_cast<size_t>(std::clamp<int>(batch_size, 1, static_cast<int>(sizes_.size()))) - 1];
  const double value = std::max(1.0, static_cast<double>(duration.count()));
  if (size.count > 0 && now - size.last > kFresh) size.count = 0;
  if (size.count == 0) {
    size.mean = value;
    size.p95 = value * 1.1;
  } else {
    size.mean += (value - size.mean) * std::max(kDecay, 1.0 / (size.count + 1));
    // p95 moves up 19 times as fast as down, so it settles where 5 % of the values are larger.
    const double step = 0.1 * std::max(size.mean, value);
    size.p95 += value > size.p95 ? std::min(step * 0.95, value - size.p95) : -step * 0.05;
    size.p95 = std::max(size.p95, size.mean);
  }
  ++size.count;
  ++total_;
  size.last = now_ = now;
}

bool LatencyModel::Known(int batch_size) const {
  const Size& size = sizes_[static_cast<size_t>(batch_size) - 1];
  return size.count > 0 && now_ - size.last <= kFresh;
}

double LatencyModel::Estimate(int batch_size, double Size::*value) const {
  const int max = static_cast<int>(sizes_.size());
  const int wanted = std::clamp(batch_size, 1, max);
  const auto at = [&](int b) { return sizes_[static_cast<size_t>(b) - 1].*value; };
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

double LatencyModel::Mean(int batch_size) const { return Estimate(batch_size, &Size::mean); }
double LatencyModel::P95(int batch_size) const { return Estimate(batch_size, &Size::p95); }

LatencyPlan::LatencyPlan(std::chrono::nanoseconds goal, int max_batch_size, std::vector<int> allowed,
                         int lanes)
    : goal_(static_cast<double>(goal.count())),
      max_batch_size_(std::max(1, max_batch_size)),
      lanes_(std::max(1, lanes)),
      allowed_(std::move(allowed)),
      model_(max_batch_size_),
      batch_limit_(max_batch_size_) {
  std::sort(allowed_.begin(), allowed_.end());
}

int LatencyPlan::Padded(int64_t items) const {
  const int size = static_cast<int>(std::clamp<int64_t>(items, 1, max_batch_size_));
  const auto found = std::lower_bound(allowed_.begin(), allowed_.end(), size);
  return found == allowed_.end() ? size : std::min(*found, max_batch_size_);
}

void LatencyPlan::OnArrival(int64_t items, Clock::time_point now) {
  window_items_ += items;
  const auto elapsed = now - window_;
  if (elapsed < kRateWindow) return;
  const double rate = static_cast<double>(window_items_) / Nanoseconds(elapsed);
  rate_ = elapsed > 10 * kRateWindow ? rate : rate_ + 0.2 * (rate - rate_);
  window_ = now;
  window_items_ = 0;
}

void LatencyPlan::OnExecution(int batch_size, std::chrono::nanoseconds duration,
                              std::chrono::nanoseconds waited, Clock::time_point now) {
  model_.Record(batch_size, duration, now);
  dispatch_ns_ += kDecay * (std::max(0.0, static_cast<double>(waited.count())) - dispatch_ns_);
  // Choose costs time if there are many sizes, and its result changes slowly later. So it is called less
  // often.
  if (++executions_ < 64 || executions_ % 16 == 0) Choose();
}

// Chooses the batch size with the highest throughput for which a request that just missed a batch still meets
// the goal with the next batch.
void LatencyPlan::Choose() {
  int best = 0;
  double best_rate = 0;
  for (int size = 1; size <= max_batch_size_; ++size) {
    if (Padded(size) != size) continue;
    if (2 * model_.P95(size) + dispatch_ns_ > kMargin * goal_) continue;
    // A size without a recent measurement is chosen if its estimate is about as good. A measured size must be
    // better.
    const double rate = size / model_.Mean(size);
    if (best != 0 && rate < best_rate * (model_.Known(size) ? 1.01 : 0.999)) continue;
    best = size;
    best_rate = rate;
  }
  if (best == 0) best = Padded(1);
  batch_limit_ = best;
}

Clock::time_point LatencyPlan::StartBy(int64_t items, Clock::time_point oldest, Clock::time_point now) const {
  if (model_.empty() || rate_ <= 0 || items >= batch_limit_) return now;
  int needed = batch_limit_;
  for (int size = batch_limit_ - 1; size >= 1; --size) {
    if (lanes_ * size < kSpare * rate_ * model_.Mean(Padded(size))) break;
    needed = size;
  }
  if (items >= needed) return now;
  const double fill = static_cast<double>(needed - items) / rate_;
  const double slack = kMargin * goal_ - 2 * model_.P95(Padded(needed)) - dispatch_ns_;
  const auto by = std::min(now + ToDuration(fill), oldest + ToDuration(std::max(0.0, slack)));
  return std::max(now, by);
}

std::optional<Refusal> LatencyPlan::Admit(Clock::time_point arrived, int64_t ahead, Clock::time_point free_at,
                                          Clock::time_point now) const {
  if (model_.empty() || (ahead == 0 && free_at <= now)) return std::nullopt;
  const int64_t full = ahead / batch_limit_;  // number of batches that start before the request's batch
  const double until_free = std::max(0.0, Nanoseconds(free_at - now));
  const double queue = static_cast<double>(full) * (model_.Mean(batch_limit_) + dispatch_ns_) / lanes_;
  const double own = model_.P95(batch_limit_);  // assumes a full batch, because later requests may join it
  const double answered = Nanoseconds(now - arrived) + until_free + queue + own + dispatch_ns_;
  if (answered <= kMargin * goal_) return std::nullopt;
  const double excess_ms = (answered - kMargin * goal_) / 1e6;
  return Refusal{
      std::chrono::milliseconds(std::clamp<int64_t>(std::llround(std::ceil(excess_ms)), 1, 60'000))};
}

bool LatencyPlan::TooLate(Clock::time_point arrived, Clock::time_point now) const {
  const double waited = Nanoseconds(now - arrived);
  return !model_.empty() && waited > goal_ / 2 && waited + model_.Mean(1) > goal_;
}

std::chrono::nanoseconds LatencyPlan::ExpectedDuration(int64_t items) const {
  return std::chrono::nanoseconds(static_cast<int64_t>(model_.Mean(Padded(items))));
}

}  // namespace tern::server
