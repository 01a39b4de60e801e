#include "server/net/timers.h"

#include <algorithm>

namespace tern::server {

uint64_t Timers::Add(Time due, std::function<void()> function) {
  const uint64_t id = next_++;
  functions_.emplace(id, std::move(function));
  heap_.push_back({due, id});
  std::push_heap(heap_.begin(), heap_.end());
  return id;
}

void Timers::Cancel(uint64_t id) {
  if (functions_.erase(id) && heap_.size() > 64 + 2 * functions_.size()) DropCancelled();
}

void Timers::DropCancelled() {
  std::erase_if(heap_, [this](const Entry& entry) { return !functions_.contains(entry.id); });
  std::make_heap(heap_.begin(), heap_.end());
}

void Timers::RunDue() {
  if (heap_.empty()) return;
  const Time now = std::chrono::steady_clock::now();
  const uint64_t end = next_;
  while (!heap_.empty() && heap_.front().due <= now && heap_.front().id < end) {
    const uint64_t id = heap_.front().id;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    auto found = functions_.extract(id);
    if (found) found.mapped()();
  }
}

int Timers::WaitMs() const {
  if (heap_.empty()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(heap_.front().due - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void Timers::Clear() {
  heap_.clear();
  functions_.clear();
}

}  // namespace tern::server
