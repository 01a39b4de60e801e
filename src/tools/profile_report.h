// Reports the time per node of a model, compared with the machine's peak.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/cost/cost.h"
#include "runtime/exec/observer.h"
#include "tools/explain_report.h"

namespace tern::tools {

// The measured peak rates of the machine, with the number of threads that the model uses.
struct MachinePeak {
  double flops = 0;       // FLOPs per second, with multiply-adds of f32
  double bf16_flops = 0;  // FLOPs per second, with dot products of bf16; 0 if the model does not use them
  double bytes = 0;       // bytes per second, read from memory

  double FlopsOf(const std::string& kernel) const;  // bf16_flops if the kernel multiplies bf16, else flops
};

struct ProfiledNode {
  const Node* node = nullptr;
  const Node* next =
      nullptr;  // another node that the same kernel call computes, or null; all numbers include this node
  std::string kernel;
  int depth = 0;
  int64_t calls = 0;  // number of calls in the node's fastest run
  double work = 0;  // how often these calls compute the whole node; a call for a part of a split batch counts
                    // less than 1
  double ms = 0;    // time of these calls
  std::optional<Cost> cost;  // cost of computing the whole node once

  std::string Kind() const;    // "Conv" or "Conv + Pool.max"
  std::string Output() const;  // the type of the output
  double flops_per_second() const { return cost && ms > 0 ? cost->flops * work / (ms * 1e-3) : 0; }
  double bytes_per_second() const { return cost && ms > 0 ? cost->bytes * work / (ms * 1e-3) : 0; }
  double PercentOfPeak(const MachinePeak& peak) const;
  // Returns the shortest possible time in percent of the measured time. The shortest possible time follows
  // from the FLOPs, the bytes and the machine's peak. Returns 0 if the cost is unknown.
  double PercentOfRoof(const MachinePeak& peak) const;
};

struct Profile {
  MachinePeak peak;
  std::string isa, precision;
  int threads = 1;
  int64_t runs = 0;
  double ms = 0;                    // total time of all steps
  std::vector<ProfiledNode> nodes;  // slowest first
};

// One step of a run, for a Chrome trace.
struct TraceEvent {
  const Node *node = nullptr, *next = nullptr;
  const char* kernel = "";
  double start_us = 0, duration_us = 0;
};

// Records the fastest time of each node over all runs, and the steps of the top-level graph in the last run.
class ProfileObserver : public RunObserver {
 public:
  void StartRun();
  void OnStep(const StepEvent& event) override;
  // Returns the profile with the slowest nodes first.
  Profile Take(const MachinePeak& peak, int threads);
  const std::vector<TraceEvent>& last_run() const { return trace_; }

 private:
  struct Sum {
    const Node* next = nullptr;
    std::string kernel;
    int depth = 0;
    int64_t run = 0;
    int64_t calls = 0, nanoseconds = 0;  // calls and time of the current run
    int64_t best_calls = 0, best = 0;    // calls and time of the fastest run
    double work = 0, best_work = 0;
    double saved = 0, best_saved = 0;  // bytes that bf16 values and weights save
    void EndRun();
  };
  std::map<const Node*, Sum> sums_;
  std::vector<TraceEvent> trace_;
  int64_t runs_ = 0;
  double clock_us_ = 0;
};

std::string RateText(const MachinePeak& peak);
std::string ProfileTable(const Profile& profile, int64_t max_rows);
// Returns the profile as a JSON object. If `explanation` is not null, the object also contains it.
std::string ProfileJson(const std::string& model, const Profile& profile, const Explanation* explanation);
// Returns a trace in Chrome's format, for chrome://tracing and ui.perfetto.dev.
std::string ChromeTrace(const std::vector<TraceEvent>& events);
// Returns a self-contained web page with the time per op and per kernel, all steps, and the roofline.
std::string ProfilePage(const std::string& model, const Profile& profile);

}  // namespace tern::tools
