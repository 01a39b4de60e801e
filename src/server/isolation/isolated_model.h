// Runs models of any back end in processes of their own.
#pragma once
#include "server/backend/backends.h"
#include "server/isolation/options.h"

namespace tern::server {

// Returns the back end of a model: the engine that the configuration names, or one that runs this engine in a
// process per model if the configuration or the settings say so. `backends` finds the engine in the first
// case; the process finds it in `backend_folder`. `version` returns a text that changes with the files of the
// model, because a process is not started again with other files.
Result<std::shared_ptr<Backend>> BackendOf(BackendSource& backends, const std::string& backend_folder,
                                           const ModelConfig& config, const IsolationDefaults& defaults,
                                           std::function<std::string(const ModelFiles&)> version);

}  // namespace tern::server
