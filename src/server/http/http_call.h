// An inference that an HTTP client requested.
#pragma once
#include "server/http/connection.h"
#include "server/http/infer_request.h"

namespace tern::server {

class HttpCall : public Call, public Exchange {
 public:
  enum class Mode { kInfer, kGenerate, kGenerateStream };

  HttpCall(Mode mode, HttpConnection& connection, std::shared_ptr<ModelVersion> version)
      : mode_(mode),
        loop_(connection.loop()),
        context_(connection.context()),
        connection_(connection.weak_from_this()),
        version_(std::move(version)) {}
  ~HttpCall() override;

  // Parses the body and submits the call. The call must already be registered with its connection.
  void Start(HttpConnection& connection, const Buffer& body, std::optional<uint64_t> infer_header);

  void Abandon() override { Cancel(); }
  void Describe(AccessRecord& record) const override;

 protected:
  void OnResponse(Response response) override;

 private:
  Status Parse(const Buffer& body, std::optional<uint64_t> infer_header);
  Status Reserve(uint64_t bytes);
  void Free();
  void Deliver(Response& response);
  void DeliverWhole(HttpConnection& connection, Response& response);
  void DeliverEvent(HttpConnection& connection, Response& response);
  HttpReply GenerateReply(Response& response);

  const Mode mode_;
  Loop& loop_;
  ServerContext& context_;
  const std::weak_ptr<HttpConnection> connection_;
  const std::shared_ptr<ModelVersion> version_;
  InferFormat format_;
  uint64_t reserved_ = 0;   // bytes that this call added to ServerContext::queued_bytes
  Response first_;          // the first response, if it is not the final one
  size_t responses_ = 0;    // number of responses with outputs or with an error
  bool streaming_ = false;  // the head of the event stream is written
};

}  // namespace tern::server
