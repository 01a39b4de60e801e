// One at a time, for work that takes longer than a caller may be ready to wait.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/stop.h"

namespace tern {

// Until `free` holds, but not longer than `stop` allows: then kCancelled, which names what was waited for.
Status WaitUntil(const std::function<bool()>& free, std::unique_lock<std::mutex>& lock,
                 std::condition_variable& changed, const Stop& stop, const std::string& what);

// One at a time of those with the same key, which say by it what they are about to make. Whoever comes after
// them looks first whether it is there now: it is not where they failed.
template <class Key> class TurnsBy {
 public:
  // Ends with its owner.
  class Turn {
   public:
    Turn() = default;
    Turn(TurnsBy& turns, typename std::set<Key>::const_iterator at) : turns_(&turns), at_(at) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), at_(other.at_) {}
    Turn& operator=(Turn&& other) noexcept {
      std::swap(turns_, other.turns_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Turn() {
      if (turns_) turns_->End(at_);
    }

   private:
    TurnsBy* turns_ = nullptr;
    typename std::set<Key>::const_iterator at_{};
  };

  // As WaitUntil.
  Result<Turn> Wait(const Stop& stop, const std::string& what, const Key& key) {
    std::unique_lock<std::mutex> lock(mutex_);
    TERN_TRY(WaitUntil([&] { return taken_.count(key) == 0; }, lock, ended_, stop, what));
    return Turn(*this, taken_.insert(key).first);
  }

 private:
  void End(typename std::set<Key>::const_iterator at) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      taken_.erase(at);
    }
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<Key> taken_;
};

// All have the same key.
class Turns : public TurnsBy<std::monostate> {
 public:
  Result<Turn> Wait(const Stop& stop, const std::string& what) { return TurnsBy::Wait(stop, what, {}); }
};

}  // namespace tern
