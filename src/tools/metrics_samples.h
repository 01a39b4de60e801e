// Reads the Prometheus text of a server, and computes the rates of each model between two readings.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tern::tools {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// Parses the Prometheus text format. Skips lines that are not samples.
std::vector<MetricSample> ParseMetrics(std::string_view text);

struct PhaseCount {
  double seconds = 0, count = 0;
  std::map<double, double> buckets;  // number of durations up to each upper bound in seconds
};

struct ModelSample {
  double success = 0, failure = 0, inferences = 0, executions = 0, pending = 0, cpu_seconds = 0,
         memory_bytes = 0;
  std::map<std::string, PhaseCount> phases;  // "request", "queue", …
  double cache_hits = 0, cache_misses = 0;
  std::string bottleneck;  // the stage that the server names; empty: none, or another server
  double bottleneck_seconds = 0, bottleneck_usual_seconds = 0;  // mean times of requests in that stage
};

// Returns the samples by model and version.
std::map<std::pair<std::string, std::string>, ModelSample> SamplesOf(
    const std::vector<MetricSample>& metrics);

struct ModelRates {
  double requests = 0, failures = 0, inferences = 0, batch = 0, cores = 0,
         pending = 0;                            // per second, except `batch` and `pending`
  double mean_ms = 0, p50_ms = -1, p99_ms = -1;  // -1 if unknown
  std::string slowest;                           // the phase with the largest mean time
  double slowest_ms = 0;
  double hit_share = -1;   // share of hits among the searches in the cache; -1: no searches
  std::string bottleneck;  // empty: the server names none
  double bottleneck_ms = 0, bottleneck_usual_ms = 0;
};

ModelRates RatesOf(const ModelSample& before, const ModelSample& now, double seconds);

}  // namespace tern::tools
