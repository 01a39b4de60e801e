// Checks a request against the configuration of its model. The error messages are Triton's, because clients
// match them.
#pragma once
#include "server/core/message.h"
#include "server/core/model_config.h"

namespace tern::server {

// Returns the size of the batch dim, or 1 if the model has no batch dim. Success means that the model has
// each input of the request, with this type and shape, and that the number of bytes matches the shape.
Result<int64_t> CheckRequest(const ModelConfig& config, const Request& request);

}  // namespace tern::server
