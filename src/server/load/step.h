// One step of a load test. It is a closed loop, or a Poisson process with one rate.
#pragma once
#include "server/load/client.h"
#include "server/load/load.h"

namespace tern::server::loadgen {

// `rate` is in requests per second. If it is 0, the step is a closed loop with command.concurrency requests
// in flight. The requests are sent one after the other, again and again.
Result<LoadStep> RunStep(const LoadCommand& command, const Url& url,
                         const std::vector<RequestBytes>& requests, double rate);

}  // namespace tern::server::loadgen
