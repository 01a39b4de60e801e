// One step of a load test: a closed loop, or a Poisson process of one rate.
#pragma once
#include "server/load/client.h"
#include "server/load/load.h"

namespace tern::server::loadgen {

// rate: requests per second; 0: a closed loop with command.concurrency requests under way.
Result<LoadStep> RunStep(const LoadCommand& command, const Url& url, const RequestBytes& request,
                         double rate);

}  // namespace tern::server::loadgen
