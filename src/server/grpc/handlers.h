// Each function answers one rpc. It gets a serialized request and returns a serialized response.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "server/core/control.h"

namespace tern::server {

Result<std::string> HandleServerLive(ServerContext& context, std::string_view request);
Result<std::string> HandleServerReady(ServerContext& context, std::string_view request);
Result<std::string> HandleServerMetadata(ServerContext& context, std::string_view request);
Result<std::string> HandleModelReady(ServerContext& context, std::string_view request);
Result<std::string> HandleModelMetadata(ServerContext& context, std::string_view request);
Result<std::string> HandleModelConfig(ServerContext& context, std::string_view request);
Result<std::string> HandleModelStatistics(ServerContext& context, std::string_view request);
Result<std::string> HandleRepositoryIndex(ServerContext& context, std::string_view request);
Result<std::string> HandleModelLoad(ServerContext& context, std::string_view request);
Result<std::string> HandleModelUnload(ServerContext& context, std::string_view request);
Result<std::string> HandleSystemStatus(ServerContext& context, std::string_view request);
Result<std::string> HandleSystemRegister(ServerContext& context, std::string_view request);
Result<std::string> HandleSystemUnregister(ServerContext& context, std::string_view request);
Result<std::string> HandleCudaStatus(ServerContext& context, std::string_view request);
Result<std::string> HandleCudaRegister(ServerContext& context, std::string_view request);
Result<std::string> HandleCudaUnregister(ServerContext& context, std::string_view request);
Result<std::string> HandleTraceSetting(ServerContext& context, std::string_view request);
Result<std::string> HandleLogSettings(ServerContext& context, std::string_view request);
Result<std::string> HandleHealthCheck(ServerContext& context, std::string_view request);

// Returns whether grpc.health.v1 knows a name as a service of the server, and not as a model.
bool IsServiceName(std::string_view name);

// Parses a message of a generated class. All handlers use it, so that they report a damaged message in the
// same words.
template <class Message> Status ParseMessage(std::string_view bytes, Message& message) {
  if (bytes.size() <= INT32_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return {};
  return InvalidArgument("the request is not a message of this method");
}

}  // namespace tern::server
