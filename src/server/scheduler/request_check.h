// Checks a request against the configuration of its model. The messages are those that clients of Triton
// know.
#pragma once
#include "server/core/message.h"
#include "server/core/model_config.h"

namespace tern::server {

// Returns the size of the batch dim, 1 for a model without one. Afterwards each input is one of the model's,
// has its type and shape, and its bytes fit its shape.
Result<int64_t> CheckRequest(const ModelConfig& config, const Request& request);

}  // namespace tern::server
