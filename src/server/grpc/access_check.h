// The rights that rpcs need, beyond those of their group.
#pragma once
#include <string>
#include <string_view>

#include "server/access/access.h"
#include "server/grpc/rpc.h"

namespace tern::server {

// What a request of a unary method says.
struct RpcRequest {
  bool writes = false;      // it changes the server
  std::string_view model;   // the model that it names; empty: none
  bool all_models = false;  // it concerns all models
  std::string_view name;    // of the model, or of the region of shared memory, for the audit log
};
RpcRequest ReadRpcRequest(const RpcMethod& method, std::string_view message);

// Returns what the headers of a request need. The message of some methods needs more (CheckMessage).
Right RightOf(const RpcMethod& method);

GrpcStatus StatusOf(const Refusal& refusal);
// Checks what the message of a unary method asks for.
GrpcStatus CheckMessage(AccessControl& access, const Visitor& visitor, const RpcMethod& method,
                        std::string_view message);

// Returns the text of a message for the audit log. Empty for methods whose messages may be long.
std::string DescribeForAudit(const RpcMethod& method, std::string_view message);

}  // namespace tern::server
