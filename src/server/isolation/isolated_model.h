// Runs models of any back end in processes of their own.
#pragma once
#include "server/backend/backends.h"
#include "server/isolation/options.h"

namespace tern::server {

// Returns the back end of a model. Without isolation, it is the engine that the configuration names, which
// `backends` finds. If the configuration or `defaults` ask for isolation, the result runs this engine in a
// process per model. The process searches the engine in `backend_folder`. `version` returns a text that
// changes with the files of the model. If the text has changed, a process that ended is not started again.
Result<std::shared_ptr<Backend>> BackendOf(BackendSource& backends, const std::string& backend_folder,
                                           const ModelConfig& config, const IsolationDefaults& defaults,
                                           std::function<std::string(const ModelFiles&)> version);

}  // namespace tern::server
