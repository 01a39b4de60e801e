#include "server/scheduler/error_margin.h"

#include <algorithm>
#include <cmath>

namespace tern::server {
namespace {

constexpr size_t kEntries = 128;
constexpr size_t kFew = 16;  // fewer errors say little about a high quantile
constexpr double kQuantile = 0.98;
// Older errors are from other circumstances, such as another load of the machine.
constexpr std::chrono::seconds kMaxAge{10};

}  // namespace

void ErrorMargin::Add(double error, Clock::time_point now) {
  if (entries_.size() < kEntries)
    entries_.push_back({error, now});
  else
    entries_[next_] = {error, now};
  next_ = (next_ + 1) % kEntries;
  sorted_.clear();
  for (const Entry& entry : entries_)
    if (now - entry.time <= kMaxAge) sorted_.push_back(entry.error);
  const auto rank = static_cast<size_t>(std::ceil(kQuantile * static_cast<double>(sorted_.size()))) - 1;
  std::nth_element(sorted_.begin(), sorted_.begin() + static_cast<ptrdiff_t>(rank), sorted_.end());
  value_ = std::max(sorted_.size() < kFew ? kFirst : 0.0, sorted_[rank]);
}

}  // namespace tern::server
