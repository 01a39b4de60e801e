// Requests that run before a version is published (model_warmup).
#pragma once
#include "server/core/model_version.h"
#include "server/repository/config.h"

namespace tern::server {

// Runs all samples of model_warmup and waits for them. `folder` is the model's folder. Data files are in its
// subfolder "warmup".
Status WarmUp(ModelVersion& version, const ConfigMessage& message, const std::string& folder);

}  // namespace tern::server
