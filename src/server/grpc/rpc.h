// One gRPC call of a client, from its headers to its status.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "server/core/restrictions.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/message_reader.h"
#include "server/grpc/out_message.h"

namespace tern::server {

class GrpcStream;

// An answer from an inference or from a worker thread.
struct Reply {
  int32_t stream = 0;
  uint64_t call = 0;  // the number of the call in its stream
  std::optional<OutMessage> message;
  GrpcStatus status;
  bool final = true;
};

// Handles one stream. The stream owns it. It is used only on the thread of the loop.
class Rpc {
 public:
  explicit Rpc(GrpcStream& stream) : stream_(stream) {}
  virtual ~Rpc() = default;

  virtual void OnMessage(InMessage message) = 0;
  virtual void OnEnd() = 0;  // the client sends no more messages
  virtual void OnReply(Reply) {}
  virtual void OnTimer() {}
  virtual void OnDrain() {}
  // The client has disconnected or cancelled, or its deadline has passed. Nothing can be sent any more.
  virtual void OnCancel() {}
  virtual void Describe(AccessRecord&) const {}
  // True if the stream writes no access record, because this object writes one per inference.
  virtual bool records_calls() const { return false; }
  // True while the Rpc accepts no more messages. The flow-control window then stays closed.
  virtual bool full() const { return false; }

 protected:
  GrpcStream& stream_;
};

using UnaryHandler = Result<std::string> (*)(ServerContext& context, std::string_view request);

// Where the handler of an rpc runs.
enum class RpcThread {
  kLoop,        // it returns at once
  kFiles,       // it may wait for the file system
  kRepository,  // it may wait for a model that is loaded or unloaded
};

struct RpcMethod {
  std::string_view path;
  ApiGroup group;
  std::unique_ptr<Rpc> (*make)(GrpcStream& stream, const RpcMethod& method);
  UnaryHandler handler = nullptr;
  RpcThread thread = RpcThread::kLoop;
};

// Returns null for an unknown path.
const RpcMethod* FindMethod(std::string_view path);
std::span<const RpcMethod> AllMethods();

// Makes a gRPC message, with its prefix, from a serialized protobuf message.
OutMessage MakeMessage(std::string_view bytes);

std::unique_ptr<Rpc> MakeUnaryRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeInferRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeStreamInferRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeHealthWatchRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeReflectionRpc(GrpcStream& stream, const RpcMethod& method);

}  // namespace tern::server
