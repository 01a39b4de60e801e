// Sends responses in the order in which their requests were started.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace tern::server {

// Thread-safe. `send` is called without a lock, for one response after the other.
template <class T> class ResponseOrder {
 public:
  // Numbers start at 0 and have no gaps. A response is stored until all responses with smaller numbers are
  // sent.
  void Put(uint64_t number, T response, const std::function<void(T)>& send) {
    std::unique_lock lock(mutex_);
    waiting_.emplace(number, std::move(response));
    if (sending_) return;
    sending_ = true;
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      T first = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
      lock.unlock();
      send(std::move(first));
      lock.lock();
    }
    sending_ = false;
  }

  // Returns the responses that wait for an earlier one, in their order.
  std::vector<T> TakeWaiting() {
    const std::lock_guard lock(mutex_);
    std::vector<T> all;
    for (auto& [number, response] : waiting_) all.push_back(std::move(response));
    waiting_.clear();
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, T> waiting_;
  uint64_t next_ = 0;
  bool sending_ = false;
};

}  // namespace tern::server
