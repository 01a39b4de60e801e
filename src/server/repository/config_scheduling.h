// Converts the scheduling options of a configuration.
#pragma once
#include "server/repository/config.h"

namespace tern::server {

// Converts dynamic_batching, sequence_batching and ensemble_scheduling. `folder` is the model's folder, from
// which initial states are read.
Status ConvertScheduling(const ConfigMessage& message, const std::string& folder, ModelConfig& out);

}  // namespace tern::server
