// Decides whether a version may be released: it must answer its golden requests as they say.
#pragma once
#include "server/core/model_version.h"

namespace tern::server {

// Runs the golden requests of a model (`folder`/golden/*.json) and of the version
// (`folder`/VERSION/golden/*.json). Returns their number. Fails if one of them cannot be read, is answered
// otherwise or takes longer than `limit`; the message names the file.
Result<size_t> RunGoldenRequests(ModelVersion& version, const std::string& folder,
                                 std::chrono::milliseconds limit);

// Returns whether the model or this version has golden requests.
bool HasGoldenRequests(const std::string& folder, const std::string& version);

}  // namespace tern::server
