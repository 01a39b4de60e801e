// Wraps an engine of the C interface (include/tern/backend.h) as a server::Backend.
#pragma once
#include <memory>

#include "server/backend/host.h"

namespace tern::server {

std::shared_ptr<Backend> AdaptBackend(std::shared_ptr<LoadedBackend> loaded);
// Wraps a model that the engine has made. The result owns it.
std::unique_ptr<BackendModel> AdaptModel(std::shared_ptr<LoadedBackend> loaded, void* model,
                                         const ModelFiles& files);

}  // namespace tern::server
