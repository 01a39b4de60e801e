// One at a time, for work that takes longer than a caller may be ready to wait.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/stop.h"

namespace tern {

class Turns {
 public:
  // Ends with its owner.
  class Turn {
   public:
    Turn() = default;
    explicit Turn(Turns& turns) : turns_(&turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&& other) noexcept {
      std::swap(turns_, other.turns_);
      return *this;
    }
    ~Turn() {
      if (turns_) turns_->End();
    }

   private:
    Turns* turns_ = nullptr;
  };

  // Not longer than `stop` allows: then kCancelled, which names what was waited for.
  Result<Turn> Wait(const Stop& stop, const std::string& what);

 private:
  void End();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool taken_ = false;
};

}  // namespace tern
