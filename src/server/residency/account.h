// What the memory budget knows about one version of a model.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "server/core/model_version.h"

namespace tern::server {

class ResidentVersion;

struct Account {
  // Loads the version. If `first` is true, MemoryBudget::AddLoaded calls the function on its caller's thread.
  // If it is false, requests wait for the load, and a thread of the budget calls the function.
  using LoadFunction = std::function<Result<std::shared_ptr<ModelVersion>>(bool first)>;
  enum class State { kEvicted, kQueued, kLoading, kResident };

  std::string model, version;
  uint64_t file_bytes = 0;  // size of its files; an estimate of the first load's memory
  bool pinned = false;
  LoadFunction load;

  std::atomic<uint64_t> hits{0};  // requests since Touch was called last

  // The rest is guarded by the budget's lock.
  State state = State::kEvicted;
  ResidentVersion* owner = nullptr;       // null until the version exists, and after its destruction
  uint64_t charged = 0;                   // bytes of the budget that the version takes now
  uint64_t cost = 0;                      // resident bytes, as measured last; 0: never loaded
  std::chrono::nanoseconds load_time{0};  // decayed mean
  uint64_t loads = 0, evictions = 0;
  double uses = 0;  // decayed number of requests
  Clock::time_point touched{};
  Status error;  // the error of the last load
  int failures = 0;
  Clock::time_point retry_at{};  // after failures, requests are refused until then

  // Adds the requests since the last call to `uses`, after the decay of `uses`.
  void Touch(Clock::time_point now);
  // Returns the cost of an eviction per byte: uses * load_time / bytes. The version with the smallest value
  // is evicted first.
  double Value() const;
  // Returns the bytes that a load is expected to take.
  uint64_t Estimate(uint64_t budget) const;
  // Records a failed load. The pause before the next one doubles with each failure.
  void Fail(const Status& status, Clock::time_point now);
  void Succeed(uint64_t bytes, std::chrono::nanoseconds duration);
};

// Returns the size of a file, or of all files below a folder.
uint64_t FileBytes(const std::string& path);

}  // namespace tern::server
