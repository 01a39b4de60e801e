// A mutex per key. A thread that waits for a key can be cancelled or can have a deadline.
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

// Waits until `ready` returns true. `ready` is called with `lock` held, at the start and after each
// notification of `changed`. Returns kCancelled if `stop` triggers first; the message says that the run
// waited for `what`.
Status WaitUntil(const std::function<bool()>& ready, std::unique_lock<std::mutex>& lock,
                 std::condition_variable& changed, const Stop& stop, const std::string& what);

// Allows at most one owner per key at a time. Thread-safe. Typically the key names an object, and the owner
// of the key creates this object if it does not exist. After Acquire, a caller must check whether the object
// exists: a previous owner may have created it, or may have failed.
template <class Key> class KeyedMutex {
 public:
  // Owns a key, and unlocks the key when it is destroyed.
  class Lock {
   public:
    Lock() = default;
    Lock(KeyedMutex& mutex, typename std::set<Key>::const_iterator at) : mutex_(&mutex), at_(at) {}
    Lock(Lock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)), at_(other.at_) {}
    Lock& operator=(Lock&& other) noexcept {
      std::swap(mutex_, other.mutex_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Lock() {
      if (mutex_) mutex_->Unlock(at_);
    }

   private:
    KeyedMutex* mutex_ = nullptr;
    typename std::set<Key>::const_iterator at_{};
  };

  // Waits until the key has no owner, and locks it. Fails like WaitUntil.
  Result<Lock> Acquire(const Key& key, const Stop& stop, const std::string& what) {
    std::unique_lock<std::mutex> lock(mutex_);
    TERN_TRY(WaitUntil([&] { return owned_.count(key) == 0; }, lock, unlocked_, stop, what));
    return Lock(*this, owned_.insert(key).first);
  }

 private:
  void Unlock(typename std::set<Key>::const_iterator at) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      owned_.erase(at);
    }
    unlocked_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable unlocked_;
  std::set<Key> owned_;
};

// A KeyedMutex with a single key.
class CancellableMutex : public KeyedMutex<std::monostate> {
 public:
  Result<Lock> Acquire(const Stop& stop, const std::string& what) {
    return KeyedMutex::Acquire({}, stop, what);
  }
};

}  // namespace tern
