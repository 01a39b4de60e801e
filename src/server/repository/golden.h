// Decides whether a version may be released. It must answer its golden requests with the expected outputs.
#pragma once
#include "server/core/model_version.h"

namespace tern::server {

// Runs the golden requests of a model (`folder`/golden/*.json) and of the version
// (`folder`/VERSION/golden/*.json). Returns their number. Fails if a request cannot be read, gets other
// outputs than expected, or takes longer than `limit`. The message names the file.
Result<size_t> RunGoldenRequests(ModelVersion& version, const std::string& folder,
                                 std::chrono::milliseconds limit);

// Returns whether the model or this version has golden requests.
bool HasGoldenRequests(const std::string& folder, const std::string& version);

}  // namespace tern::server
