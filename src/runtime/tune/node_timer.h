// Runs kernels of one node on made-up data of its shapes.
#pragma once
#include <chrono>
#include <optional>

#include "base/stop.h"
#include "kernel_api/kernel_table.h"

namespace tern {

struct TimerLimits {
  std::chrono::steady_clock::time_point deadline;
  size_t memory = 0;   // bytes for operands, results and scratch memory
  size_t passing = 0;  // bytes that a run of the model reads between two runs of the node: its weights
  Stop stop = {};      // asked before each packing and each run: one of them, once begun, is finished
};

class NodeTimer {
 public:
  // Nothing that is known before a run is made up; the query must outlive this.
  NodeTimer(const KernelQuery& query, const Workers& workers, const TimerLimits& limits);

  // The best microseconds of some runs, at least three, no more when all three are slower than `hopeless`.
  // None when the kernel refuses, or memory or time do not allow as many. What it packs is gone when this
  // returns.
  std::optional<double> Measure(const KernelEntry& entry, double hopeless);

 private:
  std::optional<double> MeasureOrThrow(const KernelEntry& entry, double hopeless);
  bool Allocate();
  bool OutOfTime() const {
    return std::chrono::steady_clock::now() >= limits_.deadline || !limits_.stop.Check().ok();
  }
  void PassOtherData();
  std::optional<double> Repeat(Kernel& kernel, RunContext& context, double hopeless);

  const KernelQuery& query_;
  const Workers& workers_;
  TimerLimits limits_;
  size_t bytes_ = 0;
  DatumList inputs_, outputs_;
  std::vector<bool> made_;  // inputs that are ours
  Buffer passing_;
};

}  // namespace tern
