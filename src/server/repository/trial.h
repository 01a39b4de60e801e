// Sends requests to a version that clients cannot use yet.
#pragma once
#include "server/core/model_version.h"

namespace tern::server {

// Submits a request and waits for its final response. Returns the outputs of the last response that has any.
// Fails if the request fails or takes longer than 10 minutes.
Result<std::vector<WireTensor>> TryRequest(ModelVersion& version, Request request);

}  // namespace tern::server
