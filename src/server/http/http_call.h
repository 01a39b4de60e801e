// An inference that an HTTP client requested.
#pragma once
#include "server/http/connection.h"
#include "server/http/infer_request.h"

namespace tern::server {

// A response that waits for a thread, and its bytes in the budget.
struct HeldResponse {
  Response response;
  ByteReservation reservation;
  void Reserve(ServerContext& context);
};

// What the header fields say about the body of an infer request.
struct BodyFormat {
  std::optional<uint64_t> infer_header;  // Inference-Header-Content-Length
  BodyType type = BodyType::kUnstated;   // Content-Type
};

class HttpCall : public Call, public Exchange {
 public:
  enum class Mode { kInfer, kGenerate, kGenerateStream, kDialect };

  HttpCall(Mode mode, HttpConnection& connection, std::shared_ptr<ModelVersion> version)
      : mode_(mode),
        loop_(connection.link()),
        context_(connection.context()),
        connection_(connection.weak_from_this()),
        version_(std::move(version)),
        forward_(connection.shared().options.forward) {
    if (forward_) fields_ = connection.fields();
    if (context_.access) TakeVisitor(connection.visitor());
  }
  // Keeps the place of the request in its tenant's quota until the last response.
  void Hold(Permit permit) { permit_ = std::move(permit); }

  // Parses the body and submits the call. The call is registered with its connection. Start is called on the
  // connection's loop, if the body is not compressed and its JSON is short. Otherwise StartLater is called on
  // another thread.
  void Start(HttpConnection& connection, IncomingBody body, const BodyFormat& format);
  void StartLater(IncomingBody body, const BodyFormat& format);

  // Answers the call and returns true if its model is overloaded. The call is registered with its connection.
  bool RefuseIfOverloaded();
  // Called before the body has arrived. Returns true if the model refuses the request whatever the body
  // contains. The caller then registers the call and calls SendRefusal.
  bool RefuseEarly(Clock::time_point arrival);
  void SendRefusal() { Deliver(first_); }

  void Abandon() override { Cancel(); }
  void Describe(AccessRecord& record) const override;

 protected:
  void OnResponse(Response response) override;

  // A dialect derives a class, constructs it with Mode::kDialect, and overrides these functions. They may be
  // called on any thread.
  // Reads the body into `request`. Adds the bytes of inputs that do not share the body's memory to
  // `converted`.
  virtual Status ReadDialect(const IncomingBody& body, const InferSource& source, uint64_t& converted);
  virtual HttpReply DialectReply(Response& response);
  virtual void Submit() { version_->Submit(shared_from_this()); }

  const std::shared_ptr<ModelVersion>& version() const { return version_; }

 private:
  void TakeVisitor(const Visitor& visitor);
  Status Parse(IncomingBody body, const BodyFormat& format);
  bool IsItem(const IncomingBody& body, const BodyFormat& format) const;
  void SubmitFromThread();
  void ReplyFromThread(HttpReply reply);
  Status Reserve(uint64_t bytes);
  void Deliver(HeldResponse& held);
  void DeliverWhole(HttpConnection& connection, HeldResponse& held);
  void MakeLater(HttpConnection& connection, HeldResponse& held);
  HttpReply WholeReply(Response& response);
  bool TakesLong(const Response& response) const;
  void DeliverEvent(HttpConnection& connection, Response& response);
  HttpReply GenerateReply(Response& response);

  const Mode mode_;
  const std::shared_ptr<LoopLink> loop_;
  ServerContext& context_;
  const std::weak_ptr<HttpConnection> connection_;
  std::shared_ptr<ModelVersion> version_;  // Parse may choose another one
  std::shared_ptr<ModelVersion>
      splitter_;  // version_ before Parse chose another one; keeps its configuration alive
  const std::shared_ptr<const HeaderPattern> forward_;  // header fields that become parameters; may be null
  Headers fields_;                                      // empty unless forward_
  InferFormat format_;
  ByteReservation reservation_;
  Visitor visitor_;
  Permit permit_;
  HeldResponse first_;      // a response that came before the final one, or a refusal that is not sent yet
  bool early_ = false;      // in RefuseEarly
  size_t responses_ = 0;    // with outputs or with an error
  bool streaming_ = false;  // the head of the event stream is written
};

}  // namespace tern::server
