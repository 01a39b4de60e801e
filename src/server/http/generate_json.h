// The JSON of the generate extension. Keys of the request's object become inputs or parameters. Outputs
// become keys of the response's object.
#pragma once
#include "server/core/model_version.h"
#include "server/http/infer_request.h"

namespace tern::server {

Status ParseGenerateRequest(std::string_view body, const InferSource& source, Request& request);
// Appends {"model_name":…, "model_version":…, OUTPUT: value or array, …}.
Status AppendGenerateResponse(std::string& out, const ModelVersion& version, const Request& request,
                              const Response& response);

}  // namespace tern::server
