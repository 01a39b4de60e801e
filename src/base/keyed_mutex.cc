#include "base/keyed_mutex.h"

#include <algorithm>
#include <optional>

#include "base/idle_scope.h"
#include "base/strings.h"

namespace tern {
namespace {

// A waiting thread reads the cancel flag at this interval, because setting the flag does not wake the thread.
constexpr std::chrono::milliseconds kPollInterval{5};

}  // namespace

Status WaitUntil(const std::function<bool()>& ready, std::unique_lock<std::mutex>& lock,
                 std::condition_variable& changed, const Stop& stop, const std::string& what) {
  std::optional<IdleScope> idle_scope;  // frees the core of this thread while it waits
  while (!ready()) {
    if (!idle_scope) idle_scope.emplace();
    if (const Status status = stop.Check(); !status.ok())
      return Status(status.code(), StrCat(status.message(), ": it waited for ", what));
    const auto next_poll = stop.cancel ? Stop::Clock::now() + kPollInterval : Stop::Clock::time_point::max();
    const auto until = std::min(stop.deadline, next_poll);
    if (until == Stop::Clock::time_point::max())
      changed.wait(lock);
    else
      changed.wait_until(lock, until);
  }
  return {};
}

}  // namespace tern
