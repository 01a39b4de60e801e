// One execution: builds the batch, runs it, and makes the responses.
#pragma once
#include <vector>

#include "server/core/backend.h"
#include "server/core/statistics.h"
#include "server/scheduler/batch_builder.h"
#include "server/scheduler/feeder.h"

namespace tern::server {

struct FinishedCall {
  QueuedCallPtr call;
  Response response;
};

struct ExecutionResult {
  std::vector<FinishedCall> finished;
  std::chrono::nanoseconds duration{0};
  // Processor time. Helper threads of the back end are assumed to work as long as the thread that runs the
  // execution.
  std::chrono::nanoseconds cpu{0};
  int batch_size = 0;  // 0: all requests were cancelled before, or a batch failed and was run in parts
};

struct ExecutionContext {
  const ModelConfig& config;
  const BatchBuilder& builder;
  ModelStatistics& statistics;
  Feeder& feeder;
  BackendInstance& backend;
  int threads;
  // > 0: the elapsed time, at most this, stands for the processor time. It saves two system calls, which take
  // longer than the rest of a small execution.
  std::chrono::nanoseconds elapsed_as_cpu{0};
};

// Runs the requests as one batch. If a batch of several requests fails, each is run again on its own, so that
// a bad request does not fail the others; not for sequences, whose state would advance twice.
ExecutionResult Execute(const ExecutionContext& context, const Pick& pick);

// Processor time of the calling thread.
std::chrono::nanoseconds ThreadCpuTime();
// Sets all phases to the same time.
void SetTimes(CallTimes& times, Clock::time_point now);

// The response of one request: selects and classifies outputs, and writes those with a destination.
Response MakeResponse(const ModelConfig& config, const Request& request, std::vector<WireTensor> outputs);
// The `count` largest values per batch item as BYTES "value:index[:label]".
Result<WireTensor> Classify(const ModelConfig& config, const WireTensor& output, int count);

}  // namespace tern::server
