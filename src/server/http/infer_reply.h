// Makes the response to an infer request.
#pragma once
#include "server/core/model_version.h"
#include "server/http/infer_request.h"
#include "server/http/reply.h"

namespace tern::server {

// Makes the reply. It refers to the buffers of binary outputs without a copy.
HttpReply MakeInferReply(const ModelVersion& version, const Request& request, const InferFormat& format,
                         Response& response);

// Returns whether the reply contains the output as binary data, and not as JSON.
bool IsBinary(const Request& request, const InferFormat& format, std::string_view output);

}  // namespace tern::server
