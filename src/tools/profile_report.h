// Reports the time per node of a model, compared with the machine's peak.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/cost/cost.h"
#include "runtime/exec/observer.h"
#include "tools/explain_report.h"

namespace tern::tools {

// The measured peak of the machine, with as many threads as the model used.
struct MachinePeak {
  double flops = 0;       // per second, multiply-adds of f32
  double bf16_flops = 0;  // of bf16 pairs; 0 where no kernel uses them
  double bytes = 0;       // per second, read from memory

  double FlopsOf(const std::string& kernel) const;  // for products of this type
};

struct ProfiledNode {
  const Node* node = nullptr;
  const Node* next = nullptr;  // the node fused into the step, included in all figures
  std::string kernel;
  int depth = 0;
  int64_t calls = 0;         // in its best run
  double work = 0;           // the work of those calls, in multiples of the node's work
  double ms = 0;             // of all calls in its best run; other runs were disturbed
  std::optional<Cost> cost;  // for the node's work done once

  std::string Kind() const;    // "Conv", "Conv + Pool.max"
  std::string Output() const;  // its type
  double flops_per_second() const { return cost && ms > 0 ? cost->flops * work / (ms * 1e-3) : 0; }
  double bytes_per_second() const { return cost && ms > 0 ? cost->bytes * work / (ms * 1e-3) : 0; }
  double PercentOfPeak(const MachinePeak& peak) const;
  // The lower bound of the time, from FLOPs, bytes and the machine's peak, divided by the measured time; 0
  // when unknown.
  double PercentOfRoof(const MachinePeak& peak) const;
};

struct Profile {
  MachinePeak peak;
  std::string isa, precision;
  int threads = 1;
  int64_t runs = 0;
  double ms = 0;                    // all steps
  std::vector<ProfiledNode> nodes;  // slowest first
};

// One step of one run, for a trace.
struct TraceEvent {
  const Node *node = nullptr, *next = nullptr;
  const char* kernel = "";
  double start_us = 0, duration_us = 0;
};

// Accumulates times over runs; stores every step of the last run.
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
    int64_t calls = 0, nanoseconds = 0;  // of the current run
    int64_t best_calls = 0, best = 0;
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
// explanation: null for none.
std::string ProfileJson(const std::string& model, const Profile& profile, const Explanation* explanation);
// For chrome://tracing and ui.perfetto.dev.
std::string ChromeTrace(const std::vector<TraceEvent>& events);
// One self-contained page: time per op and per kernel, all steps, the roofline.
std::string ProfilePage(const std::string& model, const Profile& profile);

}  // namespace tern::tools
