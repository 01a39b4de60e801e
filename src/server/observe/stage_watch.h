// Finds the stage that determines the latency of each model: its bottleneck.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "server/observe/machine.h"
#include "server/observe/metrics_text.h"

namespace tern::server {

// The sums of a version since its start, at one time.
struct StageTotals {
  std::array<uint64_t, kPhases> ns{};  // by Phase
  uint64_t requests = 0;
  uint64_t cpu_ns = 0;
  // Totals of the machine: the energy, if it is known, and the processor time of all programs.
  std::optional<double> joules;
  double busy_seconds = 0;
};

struct StageReport {
  uint64_t requests = 0;  // in the window
  // Mean seconds per request, by Phase; that of Phase::kRequest is the latency.
  std::array<double, kPhases> mean{}, usual{};
  bool has_usual = false;
  std::optional<Phase> bottleneck;
  std::optional<double> cpu_seconds, joules;  // per request
};

// The history of one version. Not thread-safe.
//
// The window is the last 10 s. The usual times are decayed means of the seconds before the window (half-life
// about 7 minutes). The bottleneck is:
// 1. If the latency has grown by more than 25 % and 1 ms: the stage that has grown most.
// 2. Otherwise the stage that takes at least half of the latency, if there is one.
// With fewer than 5 requests in the window, no stage is named.
class StageHistory {
 public:
  void Add(const StageTotals& totals, Clock::time_point now);
  StageReport Report() const;

 private:
  struct Sample {
    Clock::time_point time;
    StageTotals totals;
  };
  void Learn(const StageTotals& from, const StageTotals& to);
  std::deque<Sample> samples_;
  std::array<double, kPhases> usual_{};
  int learned_ = 0;  // the number of seconds with requests in usual_
};

// Thread-safe.
class StageWatch {
 public:
  // Reads the statistics of all versions. Does nothing if the last time was less than about a second ago.
  void Sample(const Versions& versions, std::optional<double> joules, Clock::time_point now);
  void Append(const Versions& versions, MetricsText& text) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, StageHistory> histories_;
  Clock::time_point last_;
};

}  // namespace tern::server
