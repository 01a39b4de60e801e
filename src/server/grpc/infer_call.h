// An inference that a gRPC client requested.
#pragma once
#include <memory>

#include "server/access/identity.h"
#include "server/core/model_version.h"
#include "server/core/restrictions.h"
#include "server/core/shared_tensors.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/reply_box.h"

namespace tern::server {

// OnResponse encodes the response on the calling thread and sends it to the stream as a Reply.
class InferCall : public Call {
 public:
  // `number` is the number of the call in its stream. `streaming` is true if the stream is a
  // ModelStreamInfer.
  InferCall(std::shared_ptr<ReplyBox> replies, int32_t stream, uint64_t number, bool streaming)
      : replies_(std::move(replies)), stream_(stream), number_(number), streaming_(streaming) {}

  // Parses the message, finds the model and submits the call, or answers it if the model is overloaded. Work
  // that takes long is done on another thread, which sends errors as replies. The stream is paused meanwhile.
  // An error that is returned means that the call was neither submitted nor answered.
  static Status Submit(const std::shared_ptr<InferCall>& call, InMessage message, GrpcStream& stream);

  // False until the request is parsed.
  bool decoupled() const {
    return parsed_.load(std::memory_order_acquire) && model_ && model_->config().decoupled;
  }
  uint64_t number() const { return number_; }
  // Keeps the place of the request in its tenant's quota until the last response.
  void Hold(Permit permit) { permit_ = std::move(permit); }
  void Describe(AccessRecord& record) const;
  // Makes the reply for a call that was not submitted. On a ModelStreamInfer, its message contains the error
  // as error_message.
  Reply ErrorReply(const Status& status) const;

 protected:
  void OnResponse(Response response) override;

  // These functions read and write the messages of the rpc. The implementations here are those of ModelInfer.
  // A dialect overrides them. They may be called on any thread, one after the other.
  virtual RequestNames Peek(const Buffer& message) { return PeekNames(message); }
  virtual bool TakesLong(const Buffer& message) { return TakesLongToParse(message); }
  virtual Status Decode(const Buffer& message, const InferParseOptions& options, InferMessage& parsed) {
    return ParseInferRequest(message, options, parsed);
  }
  virtual Result<std::shared_ptr<ModelVersion>> FindModel(const Registry& models) const {
    return models.Find(model_name_, version_);
  }
  // Completes the request for its model. Adds the bytes of inputs that it makes to `converted`.
  virtual Status Complete(const ModelVersion& model, uint64_t& converted);
  virtual void SubmitTo(const std::shared_ptr<ModelVersion>& model) { model->Submit(shared_from_this()); }
  // The message of a successful response of a unary call.
  virtual Result<OutMessage> Encode(Response& response) const;

  const std::shared_ptr<ModelVersion>& model() const { return model_; }

 private:
  void TakeOrigin(GrpcStream& stream);
  Status Parse(InMessage message, ServerContext& context, uint64_t limit);
  Status ReadMessage(InMessage message, ServerContext& context, uint64_t limit);
  bool RefuseEarly(const InMessage& message, ServerContext& context);
  static Status Post(const std::shared_ptr<InferCall>& call, GrpcStream& stream,
                     std::function<Status()> parse);
  // An error means that the call was not submitted.
  Status SubmitFromThread(const std::function<Status()>& parse);
  Reply MakeReply(Response& response) const;
  bool Hidden(const Response& response) const;

  const std::shared_ptr<ReplyBox> replies_;
  const int32_t stream_;
  const uint64_t number_;
  const bool streaming_;
  // Data of the request that comes from its stream.
  Clock::time_point arrived_;
  TraceContext trace_;
  std::chrono::microseconds timeout_{0};
  std::shared_ptr<const HeaderPattern> forward_;  // header fields that become parameters; may be null
  Headers headers_;                               // empty unless forward_
  Visitor visitor_;
  Permit permit_;
  bool denied_ = false;  // the client must not use this model
  SharedTensors shared_;
  std::atomic<bool> parsed_{false};   // another thread may still parse the request while its stream ends
  std::string model_name_, version_;  // as in the request, for the access log and for errors
  std::shared_ptr<ModelVersion> model_;
  ByteReservation reservation_;
  // Of a unary call: its response, until the final (empty) response has arrived.
  std::unique_ptr<Response> held_;
};

// Makes the Rpc of a unary call.
std::unique_ptr<Rpc> MakeCallRpc(GrpcStream& stream, std::shared_ptr<InferCall> call);

}  // namespace tern::server
