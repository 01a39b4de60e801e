// The load generator. It sends inference requests to any server of the v2 protocol and measures the answers.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/tensor.h"

namespace tern::server {

struct LoadProgress {
  double seconds = 0;  // since the start of the step
  uint64_t answers = 0, errors = 0;
  double p50_ms = 0, p99_ms = 0;  // of the answers so far
};

struct LoadCommand {
  std::string url, model, version;
  std::string token;  // sent with each request; empty: none
  bool grpc = false;
  int concurrency = 1;        // closed loop: the number of requests that are always in flight
  std::vector<double> rates;  // open loop: requests per second, one step after the other; empty: closed loop
  double seconds = 10;        // duration of each step
  double warmup_seconds = 0.5;
  int max_connections = 256;  // only for an open loop
  bool shared_memory = false;
  bool json = false;  // HTTP only: send tensors as JSON instead of binary data
  uint64_t seed = 1;
  std::map<std::string, Tensor> inputs;  // inputs that the user gives; all others are random
  std::map<std::string, Dims> shapes;    // dims of random inputs, by name
  int64_t open_dim = 1;                  // size of open dims of random inputs
  std::string recorded;  // HTTP only: a file of requests, which are sent one after the other; empty: none
  double timeout_seconds = 30;
  double goal_ms = 0;  // answers within this time are goodput; 0: all answers are goodput
  std::function<void(const LoadProgress&)> progress;  // called about twice a second; may be empty
  std::function<bool()> stop;                         // the test ends when this function returns true; may be
                                                      // empty
};

struct LoadStep {
  double rate = 0;  // the requested rate; 0: closed loop
  int concurrency = 0;
  double goodput = 0;         // successful answers within goal_ms, per second
  double refused_p99_ms = 0;  // latency of refused requests; 0: none
  double seconds = 0;
  uint64_t requests = 0, answers = 0, errors = 0, refused = 0;  // refused: errors by overload, as in Answer
  double throughput = 0;                                        // successful answers per second
  // Latencies in milliseconds. A latency starts when the request should have been sent. So it includes the
  // time for which a slow server delayed the sending.
  double mean_ms = 0, p50_ms = 0, p90_ms = 0, p95_ms = 0, p99_ms = 0, p999_ms = 0, max_ms = 0;
  std::map<std::string, uint64_t> messages;      // number of errors by message, for the first few messages
  std::vector<std::pair<double, double>> curve;  // pairs of a quantile and its latency in milliseconds
};

struct LoadReport {
  std::string server, model, protocol;
  uint64_t request_bytes = 0;
  std::vector<LoadStep> steps;
};

Result<LoadReport> RunLoad(const LoadCommand& command);

}  // namespace tern::server
