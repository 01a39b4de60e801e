#include "server/residency/hold_timer.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace tern::server {

struct HoldTimer::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::multimap<Clock::time_point, std::weak_ptr<Expiring>> times;
  bool stop = false;

  void Run() {
    std::unique_lock lock(mutex);
    while (!stop) {
      if (times.empty()) {
        changed.wait(lock);
        continue;
      }
      const Clock::time_point first = times.begin()->first;
      if (first > Clock::now()) {
        changed.wait_until(lock, first);
        continue;
      }
      std::shared_ptr<Expiring> object = times.begin()->second.lock();
      times.erase(times.begin());
      lock.unlock();
      if (object) object->Expire(Clock::now());
      object.reset();  // without the lock, because this may destroy a model
      lock.lock();
    }
  }
};

HoldTimer::HoldTimer() : state_(std::make_shared<State>()) {}

HoldTimer::~HoldTimer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

size_t HoldTimer::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times.size();
}

void HoldTimer::Add(Clock::time_point time, std::weak_ptr<Expiring> object) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->times.emplace(time, std::move(object));
    if (!thread_.joinable()) thread_ = std::thread([state = state_] { state->Run(); });
  }
  state_->changed.notify_all();
}

}  // namespace tern::server
