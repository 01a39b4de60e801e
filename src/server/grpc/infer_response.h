// Serializes ModelInferResponse and ModelStreamInferResponse without copying large tensors.
#pragma once
#include <string_view>

#include "server/core/message.h"
#include "server/grpc/out_message.h"

namespace tern::server {

// Names that every response repeats.
struct ResponseNames {
  std::string_view model, version, id;
};

// Fails with kResourceExhausted if the message would be larger than clients can read, 2^31 - 1 bytes.
Result<OutMessage> EncodeInferResponse(const ResponseNames& names, const Response& response);
// The same inside a ModelStreamInferResponse, with the parameter triton_final_response. An error is its
// error_message.
Result<OutMessage> EncodeStreamResponse(const ResponseNames& names, const Response& response);

}  // namespace tern::server
