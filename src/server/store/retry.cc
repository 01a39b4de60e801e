#include "server/store/retry.h"

#include <algorithm>
#include <random>
#include <thread>

namespace tern::server {

using std::chrono::milliseconds;

Status Pause(milliseconds time, const Stop& stop) {
  const auto end = Stop::Clock::now() + time;
  for (;;) {
    TERN_TRY(stop.Check());
    const auto left = std::chrono::duration_cast<milliseconds>(end - Stop::Clock::now());
    if (left <= milliseconds(0)) return {};
    std::this_thread::sleep_for(std::min(left, milliseconds(20)));
  }
}

Status Retry(const RetryOptions& options, const Stop& stop, std::atomic<uint64_t>* retries,
             const std::function<Status()>& attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  milliseconds wait = options.first;
  for (int i = 1;; ++i) {
    Status status = attempt();
    if (status.ok() || status.code() != Code::kIo || i >= options.attempts) return status;
    if (retries) retries->fetch_add(1, std::memory_order_relaxed);
    std::uniform_int_distribution<int64_t> part(wait.count() / 2, std::max<int64_t>(wait.count(), 1));
    TERN_TRY(Pause(milliseconds(part(random)), stop));
    wait = std::min(wait * 2, options.most);
  }
}

}  // namespace tern::server
