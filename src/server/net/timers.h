// Functions that run at given times. Not thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace tern::server {

class Timers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  uint64_t Add(Time due, std::function<void()> function);
  void Cancel(uint64_t id);
  // Runs the functions that are due now. A timer that one of these functions adds runs in a later call.
  void RunDue();
  int WaitMs() const;  // ms until the next timer, rounded up; -1 if there is none
  void Clear();
  size_t size() const { return functions_.size(); }

 private:
  struct Entry {
    Time due;
    uint64_t id;
    bool operator<(const Entry& other) const { return due > other.due; }  // the earliest is on top
  };
  void DropCancelled();

  std::vector<Entry> heap_;  // may contain entries of cancelled timers
  std::unordered_map<uint64_t, std::function<void()>> functions_;
  uint64_t next_ = 1;
};

}  // namespace tern::server
