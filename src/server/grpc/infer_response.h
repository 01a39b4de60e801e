// Serializes ModelInferResponse and ModelStreamInferResponse without copying large tensors.
#pragma once
#include <string_view>

#include "server/core/message.h"
#include "server/grpc/out_message.h"

namespace tern::server {

// Adds the prefix of gRPC: the flag for an uncompressed message, and the length. Fails with
// kResourceExhausted if the message is larger than clients can read, 2^31 - 1 bytes.
Result<OutMessage> FinishMessage(OutMessage out);

// Names that are in every response.
struct ResponseNames {
  std::string_view model, version, id;
};

// Fails with kResourceExhausted if the message would be larger than clients can read, 2^31 - 1 bytes.
Result<OutMessage> EncodeInferResponse(const ResponseNames& names, const Response& response);
// Like EncodeInferResponse, but inside a ModelStreamInferResponse and with the parameter
// triton_final_response. If the response is an error, error_message is set and there are no outputs.
Result<OutMessage> EncodeStreamResponse(const ResponseNames& names, const Response& response);

}  // namespace tern::server
