// The schedulers of a configuration, converted.
#pragma once
#include "server/repository/config.h"

namespace tern::server {

// Converts dynamic_batching, sequence_batching and ensemble_scheduling; folder: the model's, for initial
// states.
Status ConvertScheduling(const ConfigMessage& message, const std::string& folder, ModelConfig& out);

}  // namespace tern::server
