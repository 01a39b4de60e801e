// Loads the signatures of a SavedModel beside its default one.
#pragma once
#include "server/core/backend.h"
#include "server/core/model_version.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

// `standard` is the model's version with its default signature, and `given` its configuration as the operator
// wrote it. Returns a version with all signatures of the file, or with the one that kSignatureParameter
// selects. Returns `standard` if the model is no SavedModel, has sequences or is decoupled. If a signature
// cannot be loaded, logs the error, and the version refuses requests for that signature.
Result<std::shared_ptr<ModelVersion>> AddSignatures(const ModelFiles& files, const ModelConfig& given,
                                                    Backend& backend, Scheduler& scheduler,
                                                    std::shared_ptr<ModelVersion> standard);

}  // namespace tern::server
