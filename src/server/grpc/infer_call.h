// An inference that a gRPC client requested.
#pragma once
#include <memory>

#include "server/access/identity.h"
#include "server/core/model_version.h"
#include "server/core/restrictions.h"
#include "server/core/shared_tensors.h"
#include "server/grpc/reply_box.h"

namespace tern::server {

// OnResponse encodes the response on the calling thread and sends it to the stream as a Reply.
class InferCall : public Call {
 public:
  // `number` is the number of the call in its stream. `streaming` is true if the stream is a
  // ModelStreamInfer.
  InferCall(std::shared_ptr<ReplyBox> replies, int32_t stream, uint64_t number, bool streaming)
      : replies_(std::move(replies)), stream_(stream), number_(number), streaming_(streaming) {}

  // Parses the message, finds the model and submits the call. An error means that the call was not submitted.
  static Status Submit(const std::shared_ptr<InferCall>& call, InMessage message, GrpcStream& stream);

  // False until the request is parsed.
  bool decoupled() const {
    return parsed_.load(std::memory_order_acquire) && model_ && model_->config().decoupled;
  }
  uint64_t number() const { return number_; }
  // Keeps the place of the request in its tenant's quota until the last response.
  void Hold(Permit permit) { permit_ = std::move(permit); }
  void Describe(AccessRecord& record) const;
  // Makes the reply for a call that was not submitted. Its message contains the error as error_message.
  Reply ErrorReply(const Status& status) const;

 protected:
  void OnResponse(Response response) override;

 private:
  void TakeOrigin(GrpcStream& stream);
  Status Parse(InMessage message, ServerContext& context, uint64_t limit);
  Status ReadMessage(InMessage message, ServerContext& context, uint64_t limit);
  bool RefuseEarly(const InMessage& message, ServerContext& context);
  static Status Post(const std::shared_ptr<InferCall>& call, GrpcStream& stream,
                     std::function<Status()> parse);
  // An error means that the call was not submitted.
  Status SubmitFromThread(const std::function<Status()>& parse);
  Reply MakeReply(const Response& response) const;
  bool Hidden(const Response& response) const;

  const std::shared_ptr<ReplyBox> replies_;
  const int32_t stream_;
  const uint64_t number_;
  const bool streaming_;
  // What the request gets from its stream.
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

}  // namespace tern::server
