// The rpc ModelInfer, and the unary rpcs that a UnaryHandler answers.
#include "server/access/audit_log.h"
#include "server/grpc/access_check.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/infer_call.h"

namespace tern::server {
namespace {

// Collects the only message of a unary call.
class SingleMessageRpc : public Rpc {
 public:
  using Rpc::Rpc;
  void OnMessage(InMessage message) final {
    if (message_) return stream_.Finish({GrpcCode::kInternal, "the request has more than one message", 0});
    message_ = std::move(message);
  }
  void OnEnd() final {
    complete_ = true;
    if (!message_) return stream_.Finish({GrpcCode::kInternal, "the request has no message", 0});
    Run(std::move(*message_));
  }
  void OnDrain() final {
    if (!complete_) stream_.Finish({GrpcCode::kUnavailable, "Server exiting", 0});
  }
  void OnReply(Reply reply) override {
    if (reply.message && reply.status.ok()) stream_.Send(std::move(*reply.message));
    stream_.Finish(std::move(reply.status));
  }

 private:
  virtual void Run(InMessage message) = 0;
  std::optional<InMessage> message_;
  bool complete_ = false;
};

class InferRpc : public SingleMessageRpc {
 public:
  InferRpc(GrpcStream& stream, std::shared_ptr<InferCall> call)
      : SingleMessageRpc(stream), call_(std::move(call)) {}
  void OnCancel() override { call_->Cancel(); }
  void Describe(AccessRecord& record) const override { call_->Describe(record); }

 private:
  void Run(InMessage message) override {
    Permit permit;
    GrpcStatus refused = stream_.Admit(message, false, permit);
    if (!refused.ok()) return stream_.Finish(std::move(refused));
    call_->Hold(std::move(permit));
    const Status status = InferCall::Submit(call_, std::move(message), stream_);
    if (!status.ok()) stream_.Finish(call_->ErrorReply(status).status);
  }
  const std::shared_ptr<InferCall> call_;
};

std::string_view TextOf(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Reply CallHandler(UnaryHandler handler, ServerContext& context, int32_t stream, const Buffer& message) {
  const auto result = Guard([&]() -> Result<std::string> { return handler(context, TextOf(message)); });
  Reply reply;
  reply.stream = stream;
  reply.status = GrpcStatus::Of(result.status());
  if (result.ok()) reply.message = MakeMessage(*result);
  return reply;
}

// Who sends a request, for the audit log.
struct Actor {
  std::string user, address;
};

// Like CallHandler, but writes lines to the audit log.
Reply CallAudited(const RpcMethod& method, ServerContext& context, int32_t stream, const Buffer& message,
                  const Actor& actor) {
  const std::string detail = DescribeForAudit(method, TextOf(message));
  const AuditAction action{
      actor.user, actor.address, "grpc", method.path, ReadRpcRequest(method, TextOf(message)).name,
      detail,     message.size()};
  uint64_t number = 0;
  const Status begun = context.audit->Begin(action, number);
  if (!begun.ok()) {
    Reply reply;
    reply.stream = stream;
    reply.status = GrpcStatus::Of(begun);
    return reply;
  }
  Reply reply = CallHandler(method.handler, context, stream, message);
  context.audit->End(action, number, static_cast<int>(reply.status.code), reply.status.message);
  return reply;
}

class UnaryRpc : public SingleMessageRpc {
 public:
  UnaryRpc(GrpcStream& stream, const RpcMethod& method) : SingleMessageRpc(stream), method_(method) {}

 private:
  void Run(InMessage message) override {
    ServerContext& context = stream_.connection().context();
    if (context.access) {
      GrpcStatus refused = CheckMessage(*context.access, stream_.visitor(), method_, TextOf(message.bytes));
      if (!refused.ok()) return stream_.Finish(std::move(refused));
    }
    if (context.audit && ReadRpcRequest(method_, TextOf(message.bytes)).writes)
      return RunAudited(std::move(message));
    if (method_.thread == RpcThread::kLoop)
      return OnReply(CallHandler(method_.handler, context, stream_.id(), message.bytes));
    Post([handler = method_.handler, &context, replies = stream_.connection().replies(), id = stream_.id(),
          message = std::make_shared<InMessage>(std::move(message))] {
      replies->Deliver(CallHandler(handler, context, id, message->bytes));
    });
  }
  // The audit log waits for the disk.
  void RunAudited(InMessage message) {
    GrpcConnection& connection = stream_.connection();
    Post([&method = method_, &context = connection.context(), replies = connection.replies(),
          id = stream_.id(), actor = Actor{std::string(stream_.visitor().name()), connection.client().peer},
          message = std::make_shared<InMessage>(std::move(message))] {
      replies->Deliver(CallAudited(method, context, id, message->bytes, actor));
    });
  }
  void Post(std::function<void()> work) {
    GrpcShared& shared = stream_.connection().shared();
    WorkerThreads& threads = method_.thread == RpcThread::kRepository ? shared.repository : shared.files;
    if (!threads.Post(std::move(work)))
      stream_.Finish({GrpcCode::kResourceExhausted, "too many requests of this method wait", 0});
  }
  const RpcMethod& method_;
};

}  // namespace

std::unique_ptr<Rpc> MakeCallRpc(GrpcStream& stream, std::shared_ptr<InferCall> call) {
  return std::make_unique<InferRpc>(stream, std::move(call));
}

std::unique_ptr<Rpc> MakeInferRpc(GrpcStream& stream, const RpcMethod&) {
  return MakeCallRpc(stream,
                     std::make_shared<InferCall>(stream.connection().replies(), stream.id(), 0, false));
}

std::unique_ptr<Rpc> MakeUnaryRpc(GrpcStream& stream, const RpcMethod& method) {
  return std::make_unique<UnaryRpc>(stream, method);
}

OutMessage MakeMessage(std::string_view bytes) {
  const size_t size = bytes.size();
  const char prefix[5] = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                          static_cast<char>(size >> 8), static_cast<char>(size)};
  OutMessage message;
  message.head.append(bytes);
  message.Prepend({prefix, sizeof prefix});
  return message;
}

}  // namespace tern::server
