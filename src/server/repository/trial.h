// Sends requests to a version that clients cannot use yet.
#pragma once
#include "server/core/model_version.h"

namespace tern::server {

// Submits a request and waits for its final response. Returns the outputs of the last response that has any.
// Fails if the request fails or takes longer than `limit`. On a thread of LoadThreads, a request that takes
// longer than kTrialPatience lets other work run there.
Result<std::vector<WireTensor>> TryRequest(ModelVersion& version, Request request,
                                           std::chrono::milliseconds limit);
inline constexpr std::chrono::seconds kTrialPatience{1};

}  // namespace tern::server
