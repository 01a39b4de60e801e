// The facts about a model that the load generator gets from the server.
#pragma once
#include <string>
#include <vector>

#include "server/load/client.h"
#include "server/load/load.h"

namespace tern::server::loadgen {

struct TensorFacts {
  std::string name, datatype;
  Dims shape;  // -1 is an open dim
};

struct ModelFacts {
  std::vector<TensorFacts> inputs;
};

Result<ModelFacts> ParseJsonMetadata(const std::string& json);
Result<ModelFacts> ParseProtoMetadata(std::string_view message);
Result<ModelFacts> ReadModelFacts(const Url& url, const LoadCommand& command);

// Encodes a model's name for a URL.
std::string PercentEncode(std::string_view text);

// Adds gRPC's prefix to a message.
RequestBytes GrpcRequest(const char* method, std::string_view message);
RequestBytes HttpRequest(const Url& url, std::string_view method, const std::string& path,
                         std::string_view headers, std::string_view body);

}  // namespace tern::server::loadgen
