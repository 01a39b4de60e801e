// Like Repository::Start, but the caller supplies the back ends. Tests use it.
#pragma once
#include "server/backend/backends.h"
#include "server/repository/repository.h"

namespace tern::server {

Result<std::unique_ptr<Repository>> StartRepository(const RepositoryOptions& options, Scheduler& scheduler,
                                                    Registry& registry,
                                                    std::unique_ptr<BackendSource> backends);

}  // namespace tern::server
