// The generate extension: keys of a JSON object become inputs or parameters, outputs become keys.
#pragma once
#include "server/core/model_version.h"
#include "server/http/infer_request.h"

namespace tern::server {

Status ParseGenerateRequest(std::string_view body, const InferSource& source, Request& request);
// {"model_name":…, "model_version":…, OUTPUT: value or array, …}
Status AppendGenerateResponse(std::string& out, const ModelVersion& version, const Request& request,
                              const Response& response);

}  // namespace tern::server
