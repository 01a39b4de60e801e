#include "server/scheduler/latency_plan.h"

#include <algorithm>
#include <cmath>

namespace tern::server {
namespace {

constexpr double kDispatchDecay = 0.1;                // weight of a new value
constexpr std::chrono::milliseconds kRateWindow{20};  // window in which the arrival rate is measured
// Plans use this fraction of the goal. The rest is for the transfer from and to the client, which is not
// measured.
constexpr double kUsable = 0.95;
constexpr double kMaxMargin = 0.5;  // of the goal
constexpr double kMisses = 0.01;    // the part of the admitted requests that may miss the goal
constexpr double kCautionStep = 0.1, kMinCaution = 0.5, kMaxCaution = 3;
// Requests of the next batch need only this part of the margin. If they were refused, an instance would
// become idle.
constexpr double kNextBatchMargin = 0.5;
constexpr double kSpare = 1.15;  // required capacity divided by the arrival rate
// Batches must raise the throughput by the factor kGain + kGainOfNoise * variation. Otherwise requests run
// alone. A smaller gain may be due to chance, because it compares the largest of several noisy means.
constexpr double kGain = 1.05, kGainOfNoise = 0.7;
constexpr double kNearBest = 0.97;  // the smallest size with this fraction of the best throughput is chosen
// A running execution is expected to go on for at least this part of its expected or elapsed time, whichever
// is longer.
constexpr double kOverrun = 0.2;
constexpr int64_t kBlindItems = 4;  // admitted per lane before anything is known
constexpr int kTryExecutions = 4;   // a single execution may be slow or fast by chance
constexpr std::chrono::seconds kMinTryGap{1}, kMaxTryGap{30};

double Nanoseconds(Clock::duration duration) {
  return static_cast<double>(std::chrono::nanoseconds(duration).count());
}

Clock::duration ToDuration(double ns) { return std::chrono::nanoseconds(static_cast<int64_t>(ns)); }

std::chrono::milliseconds RetryAfter(double excess_ns) {
  const double ms = std::clamp(std::ceil(excess_ns / 1e6), 1.0, 60'000.0);
  return std::chrono::milliseconds(static_cast<int64_t>(ms));
}

}  // namespace

LatencyPlan::LatencyPlan(LatencyPlanOptions options)
    : goal_(static_cast<double>(options.goal.count())),
      max_batch_size_(std::max(1, options.max_batch_size)),
      lanes_(std::clamp(options.lanes, 1, std::max(1, options.instances))),
      allowed_(std::move(options.allowed)),
      model_(max_batch_size_),
      running_(static_cast<size_t>(std::max(1, options.instances))) {
  std::sort(allowed_.begin(), allowed_.end());
  batch_limit_ = Padded(1);
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

void LatencyPlan::OnStart(int instance, int64_t items, Clock::time_point now) {
  Running& running = running_[static_cast<size_t>(instance)];
  if (!running.busy) ++busy_;
  running = {true, now, model_.Mean(Padded(items))};
}

void LatencyPlan::OnEnd(int instance, int batch_size, std::chrono::nanoseconds duration,
                        std::chrono::nanoseconds waited, Clock::time_point now) {
  Running& running = running_[static_cast<size_t>(instance)];
  if (running.busy) --busy_;
  running.busy = false;
  if (batch_size <= 0) return;
  model_.Record(batch_size, duration, now);
  dispatch_ns_ += kDispatchDecay * (std::max(0.0, static_cast<double>(waited.count())) - dispatch_ns_);
  // Choose takes time if there are many sizes. After the first executions, its result changes slowly. So it
  // is called less often then.
  const bool tried = trying_ && batch_size == batch_limit_;
  if (++executions_ < 64 || executions_ % 16 == 0 || tried) Choose(now);
}

bool LatencyPlan::InTime(Clock::time_point arrived, Clock::time_point answered) const {
  return Nanoseconds(answered - arrived) <= goal_;
}

void LatencyPlan::OnAnswer(bool in_time) {
  const double change = in_time ? -kMisses : 1 - kMisses;  // 0 on average if a part of kMisses is late
  caution_ = std::clamp(caution_ + kCautionStep * change, kMinCaution, kMaxCaution);
}

void LatencyPlan::OnPrediction(Clock::time_point predicted, Clock::time_point answered,
                               Clock::time_point now) {
  const double cost = model_.Mean(batch_limit_);
  if (cost > 0 && predicted != Clock::time_point::max())
    margin_.Add(Nanoseconds(answered - predicted) / cost, now);
}

double LatencyPlan::MarginOf(double cost) const {
  return std::min(caution_ * margin_.value() * cost, kMaxMargin * goal_);
}

// Whether a request that just missed a batch of this size meets the goal with the next one.
bool LatencyPlan::Feasible(int size) const {
  const double cost = model_.Mean(size);
  return 2 * cost + dispatch_ns_ + kNextBatchMargin * MarginOf(cost) <= kUsable * goal_;
}

int LatencyPlan::BestSize() const {
  const int first = Padded(1);
  const double alone = first / model_.Mean(first);
  double best_rate = 0;
  std::vector<std::pair<int, double>> rates;
  for (int size = first; size <= max_batch_size_; ++size) {
    if (Padded(size) != size || (size != first && !Feasible(size))) continue;
    rates.emplace_back(size, size / model_.Mean(size));
    best_rate = std::max(best_rate, rates.back().second);
  }
  if (best_rate < (kGain + kGainOfNoise * model_.variation()) * alone) return first;
  for (const auto& [size, rate] : rates)
    if (rate >= kNearBest * best_rate) return size;
  return first;
}

// Returns a size without a recent measurement, or 0: first one that is larger than the best size, then a
// smaller one.
int LatencyPlan::SizeToTry(int best) const {
  const int larger = Padded(int64_t{try_factor_} * best);
  if (larger > best && !model_.Known(larger) && Feasible(larger)) return larger;
  const int smaller = Padded(best / 2);
  return smaller < best && !model_.Known(smaller) ? smaller : 0;
}

// Sets batch_limit_ to the best size or, from time to time, to a size without a recent measurement. After
// each such attempt that changed nothing, the time until the next one is longer.
void LatencyPlan::Choose(Clock::time_point now) {
  const int best = BestSize();
  if (trying_ && !model_.Known(batch_limit_, kTryExecutions)) return;
  if (trying_) {
    trying_ = false;
    const bool paid = best == batch_limit_;
    try_gap_ = paid ? kMinTryGap : std::min<std::chrono::seconds>(2 * try_gap_, kMaxTryGap);
    if (!paid) next_try_ = now + try_gap_;
    const bool more = !paid && int64_t{2} * try_factor_ * best <= max_batch_size_;
    try_factor_ = more ? 2 * try_factor_ : 2;
  }
  if (now >= next_try_) {
    const int size = SizeToTry(best);
    trying_ = size != 0;
    batch_limit_ = trying_ ? size : best;
    return;
  }
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
  const double cost = model_.Mean(Padded(needed));
  const double slack = kUsable * goal_ - 2 * cost - kNextBatchMargin * MarginOf(cost) - dispatch_ns_;
  const auto by = std::min(now + ToDuration(fill), oldest + ToDuration(std::max(0.0, slack)));
  return std::max(now, by);
}

// Returns the time in ns until a batch starts that is preceded by `batches` others.
double LatencyPlan::StartDelay(int64_t batches, Clock::time_point now) const {
  const double round = model_.Mean(batch_limit_) + dispatch_ns_;
  const int idle = lanes_ - busy_;
  const auto rounds = static_cast<double>(batches / lanes_);
  const int64_t lane = batches % lanes_;  // in the order in which lanes become free
  if (lane < idle) return rounds * round + dispatch_ns_;
  std::vector<double> rest;
  for (const Running& running : running_) {
    if (!running.busy) continue;
    const double elapsed = Nanoseconds(now - running.since);
    rest.push_back(std::max(running.expected - elapsed, kOverrun * std::max(running.expected, elapsed)));
  }
  const auto place = static_cast<size_t>(lane - std::max(0, idle));
  std::nth_element(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(place), rest.end());
  return rest[place] + rounds * round + dispatch_ns_;
}

Admission LatencyPlan::Admit(const Applicant& applicant, Clock::time_point now) const {
  if (model_.empty()) return {.admitted = applicant.ahead < kBlindItems * lanes_};
  const int64_t batches = applicant.ahead / batch_limit_;
  const double start = StartDelay(batches, now);
  // Later requests join the request's batch until it starts.
  const auto joining = static_cast<int64_t>(rate_ * start);
  const int64_t items = applicant.ahead % batch_limit_ + applicant.items + joining;
  const double cost = model_.Mean(Padded(std::max(applicant.items, std::min<int64_t>(batch_limit_, items))));
  const Clock::time_point answered = now + ToDuration(start + cost);
  const double margin = MarginOf(cost) * (batches < lanes_ ? kNextBatchMargin : 1);
  const double late = Nanoseconds(answered - applicant.arrived) + margin - kUsable * goal_;
  // An idle model admits every request: otherwise it could not learn that it has become faster.
  if (applicant.ahead == 0 && busy_ < lanes_) return {true, late <= 0, answered, {}};
  if (late <= 0 && now + ToDuration(start) <= applicant.start_by) return {true, true, answered, {}};
  return {false, false, answered, RetryAfter(std::max(late, model_.Mean(batch_limit_)))};
}

bool LatencyPlan::TooLate(Clock::time_point arrived, Clock::time_point now) const {
  const double waited = Nanoseconds(now - arrived);
  return !model_.empty() && waited > goal_ / 2 && waited + model_.Mean(1) > goal_;
}

std::chrono::nanoseconds LatencyPlan::ExpectedDuration(int64_t items) const {
  return std::chrono::nanoseconds(static_cast<int64_t>(model_.Mean(Padded(items))));
}

}  // namespace tern::server
