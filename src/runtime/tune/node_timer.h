// Measures the kernels of one node on random data with the node's shapes.
#pragma once
#include <chrono>
#include <optional>

#include "base/stop.h"
#include "kernel_api/kernel_table.h"

namespace tern {

struct TimerLimits {
  std::chrono::steady_clock::time_point deadline;
  size_t memory = 0;  // bytes for operands, results and scratch memory
  // Size of the model's weights in bytes. Between two runs, the timer reads this many bytes, between 256 KiB
  // and 32 MiB, to evict the node's weights from the caches.
  size_t flush = 0;
  Stop stop = {};  // checked before each Prepare and each Run of a kernel; does not interrupt a call
};

class NodeTimer {
 public:
  // Inputs that are not known get random data if they are f32, else zeros. The query must outlive the timer.
  NodeTimer(const KernelQuery& query, const Workers& workers, const TimerLimits& limits);

  // Returns the lowest time of at least three runs, in microseconds. Stops after three runs if all of them
  // take longer than `cutoff` microseconds. Returns nullopt if the kernel fails, or if memory or time do not
  // suffice for three runs. Frees the weights that the kernel packed.
  std::optional<double> Measure(const KernelEntry& entry, double cutoff);

 private:
  std::optional<double> MeasureOrThrow(const KernelEntry& entry, double cutoff);
  bool Allocate();
  bool OutOfTime() const {
    return std::chrono::steady_clock::now() >= limits_.deadline || !limits_.stop.Check().ok();
  }
  void FlushCaches();
  std::optional<double> Repeat(Kernel& kernel, RunContext& context, double cutoff);

  const KernelQuery& query_;
  const Workers& workers_;
  TimerLimits limits_;
  size_t bytes_ = 0;
  DatumList inputs_, outputs_;
  std::vector<bool> generated_;  // whether the timer made the data of each input
  Buffer flush_;                 // read between runs to evict the weights from the caches
};

}  // namespace tern
