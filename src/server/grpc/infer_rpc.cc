// The rpc ModelInfer, and the unary rpcs that a UnaryHandler answers.
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
    const Status status = InferCall::Submit(call_, std::move(message), stream_);
    if (!status.ok()) stream_.Finish(status);
  }
  const std::shared_ptr<InferCall> call_;
};

Reply CallHandler(UnaryHandler handler, ServerContext& context, int32_t stream, const Buffer& message) {
  const auto result = Guard([&]() -> Result<std::string> {
    return handler(context, {reinterpret_cast<const char*>(message.data()), message.size()});
  });
  Reply reply;
  reply.stream = stream;
  reply.status = GrpcStatus::Of(result.status());
  if (result.ok()) reply.message = MakeMessage(*result);
  return reply;
}

class UnaryRpc : public SingleMessageRpc {
 public:
  UnaryRpc(GrpcStream& stream, const RpcMethod& method) : SingleMessageRpc(stream), method_(method) {}

 private:
  void Run(InMessage message) override {
    GrpcConnection& connection = stream_.connection();
    if (method_.thread == RpcThread::kLoop)
      return OnReply(CallHandler(method_.handler, connection.context(), stream_.id(), message.bytes));
    auto work = [handler = method_.handler, &context = connection.context(), replies = connection.replies(),
                 id = stream_.id(), message = std::make_shared<InMessage>(std::move(message))] {
      replies->Deliver(CallHandler(handler, context, id, message->bytes));
    };
    GrpcShared& shared = connection.shared();
    WorkerThreads& threads = method_.thread == RpcThread::kFiles ? shared.files : shared.repository;
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
