// Explains why folders that --repository names contain fewer models than their owner may expect.
#pragma once
#include <string>
#include <vector>

#include "server/repository/repository.h"

namespace tern::server {

// Returns a warning for each local repository with model files outside of folders of models, for each that is
// the folder of one model, and for each without any model if its models are loaded only at the start.
std::vector<std::string> RepositoryHints(const RepositoryOptions& options);

}  // namespace tern::server
