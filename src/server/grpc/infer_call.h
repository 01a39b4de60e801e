// An inference that came over gRPC.
#pragma once
#include <memory>

#include "server/core/model_version.h"
#include "server/grpc/reply_box.h"

namespace tern::server {

// Encodes its responses on the thread that gives them, and sends them to its stream as replies.
class InferCall : public Call {
 public:
  // number: of the call in its stream. streaming: the stream is a ModelStreamInfer.
  InferCall(std::shared_ptr<ReplyBox> replies, int32_t stream, uint64_t number, bool streaming)
      : replies_(std::move(replies)), stream_(stream), number_(number), streaming_(streaming) {}

  // Parses the message, finds the model and submits the call. An error means that the call was not submitted.
  static Status Submit(const std::shared_ptr<InferCall>& call, InMessage message, GrpcStream& stream);

  bool decoupled() const { return model_ && model_->config().decoupled; }
  uint64_t number() const { return number_; }
  void Describe(AccessRecord& record) const;
  // A reply with the error of a call that was not submitted, as an error_message of a stream.
  Reply ErrorReply(const Status& status) const;

 protected:
  void OnResponse(Response response) override;

 private:
  Status Parse(InMessage message, GrpcStream& stream);
  Reply MakeReply(const Response& response) const;
  bool Hidden(const Response& response) const;

  const std::shared_ptr<ReplyBox> replies_;
  const int32_t stream_;
  const uint64_t number_;
  const bool streaming_;
  std::string model_name_, version_;  // of the request, for the access log and for errors
  std::shared_ptr<ModelVersion> model_;
  ByteReservation reservation_;
  std::unique_ptr<Response> held_;  // a unary call sends its only response when the final one has arrived
};

}  // namespace tern::server
