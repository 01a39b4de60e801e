// A model in a process of its own, in front of any back end.
#pragma once
#include "server/backend/backends.h"
#include "server/isolation/options.h"

namespace tern::server {

// Loads a model in the server, or in a process of its own if the configuration or the settings say so.
// `backends` finds the engine in the first case; the process finds it in `backend_folder`. `version` returns
// a text that changes with the files of the model: a process is not started again with other files.
Result<std::unique_ptr<BackendModel>> LoadBackendModel(BackendSource& backends,
                                                       const std::string& backend_folder,
                                                       const ModelFiles& files, const ModelConfig& config,
                                                       const IsolationDefaults& defaults,
                                                       std::function<std::string()> version);

}  // namespace tern::server
