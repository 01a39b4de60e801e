// Measures the resident memory of the process while models are loaded.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/core/model_version.h"

namespace tern::server {

// Returns the resident memory of this process in bytes, or 0 if the system does not tell.
uint64_t ResidentBytes();

// Reads the resident memory every few milliseconds, on its own thread. The result includes memory that
// requests of other models allocate meanwhile.
class PeakMemory {
 public:
  PeakMemory();
  ~PeakMemory() { Stop(); }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;
  // Ends the measurement. Returns the memory at the beginning and the largest so far.
  ChangeMemory Stop();

 private:
  void Run();
  ChangeMemory memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tern::server
