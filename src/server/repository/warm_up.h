// Requests that run before a version is published.
#pragma once
#include "server/core/model_version.h"
#include "server/repository/config.h"

namespace tern::server {

// Runs all samples of model_warmup and waits for them, at most `limit` for each request. `folder` is the
// model's folder. Data files are in its subfolder "warmup".
Status WarmUp(ModelVersion& version, const ConfigMessage& message, const std::string& folder,
              std::chrono::milliseconds limit);

// The file of recorded requests in a model's folder: one v2 request in JSON per line.
inline constexpr const char* kRecordedRequests = "warmup/requests.jsonl";

// Runs the recorded requests, if the model's folder has any. Returns their number. Fails if one of them
// fails.
Result<size_t> RunRecordedRequests(ModelVersion& version, const std::string& folder,
                                   std::chrono::milliseconds limit);

// Returns a request with zeros for all inputs. Returns nullopt if it is not known which inputs the model
// accepts: a size is open, an input is a text or has more than 8M elements, or the model has no inputs, is a
// sequence model, is decoupled, or is an ensemble.
std::optional<Request> MadeUpRequest(const ModelConfig& config);

}  // namespace tern::server
