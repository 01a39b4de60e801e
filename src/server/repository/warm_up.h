// Requests that run before a version is published (model_warmup).
#pragma once
#include "server/core/model_version.h"
#include "server/repository/config.h"

namespace tern::server {

// Runs all samples of the message and waits for them. folder: the model's; files are in its folder warmup.
Status WarmUp(ModelVersion& version, const ConfigMessage& message, const std::string& folder);

}  // namespace tern::server
