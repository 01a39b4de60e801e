// One execution. It builds the batch, runs it, and makes the responses.
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
  // Responses of requests that are executed again.
  std::vector<FinishedCall> partial;
  std::chrono::nanoseconds duration{0};
  // Processor time. Helper threads of the back end are assumed to work as long as the thread that runs the
  // execution.
  std::chrono::nanoseconds cpu{0};
  int batch_size = 0;  // 0: all requests were cancelled, or a failed batch was run again in parts
};

struct ExecutionContext {
  const ModelConfig& config;
  const BatchBuilder& builder;
  ModelStatistics& statistics;
  Feeder& feeder;
  BackendInstance& backend;
  int threads;
  // If it is > 0, the processor time is not measured. min(elapsed time, elapsed_as_cpu) is used instead. This
  // saves two system calls, which take longer than all other parts of a small execution.
  std::chrono::nanoseconds elapsed_as_cpu{0};
  uint64_t epoch = 0;  // of the model's process, when the batch was formed
};

// Runs the requests as one batch. If a batch of several requests fails, each request is run again alone, so
// that a bad request does not fail the others. Requests of sequences are not run again, because their state
// would advance twice. Requests whose process ended are not run again, because one of them may have ended the
// process.
ExecutionResult Execute(const ExecutionContext& context, const Pick& pick);

// Returns the processor time of the calling thread.
std::chrono::nanoseconds ThreadCpuTime();
// Sets all phases to the same time. Keeps `cache` and `held`.
void SetTimes(CallTimes& times, Clock::time_point now);

// Makes the response of one request. Selects and classifies outputs.
Response MakeResponse(const ModelConfig& config, const Request& request, std::vector<WireTensor> outputs);
// Returns the `count` largest values per batch item as BYTES "value:index[:label]".
Result<WireTensor> Classify(const ModelConfig& config, const WireTensor& output, int count);

}  // namespace tern::server
