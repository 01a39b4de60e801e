// Requests that a model executes more than once (iterative sequences).
#pragma once
#include <vector>

#include "server/scheduler/batch_builder.h"

namespace tern::server {

enum class Iteration : uint8_t {
  kLast,     // the request is answered
  kSilent,   // the request is executed again, and its outputs are dropped
  kResponds  // the request is executed again; a decoupled model's outputs are sent as a response
};

// Returns what happens to each request of the layout. Fails if a row is not in the batch.
Result<std::vector<Iteration>> IterationsOf(const BatchLayout& layout, const std::vector<AgainRow>& rows);

// Returns an error if the request must not be executed again: the model is not iterative, the client has
// cancelled, or the iteration that began at call.times.input took too long.
Status CheckAgain(const ModelConfig& config, const QueuedCall& call, Clock::time_point now);

}  // namespace tern::server
