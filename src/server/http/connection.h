// One connection of HTTP/1.1. It receives requests and answers them in order.
#pragma once
#include <deque>
#include <memory>
#include <string>

#include "server/access/identity.h"
#include "server/core/byte_budget.h"
#include "server/core/worker_threads.h"
#include "server/http/chunks.h"
#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "server/http/incoming_body.h"
#include "server/http/reply.h"
#include "server/http/route.h"
#include "server/net/loop_link.h"

namespace tern::server {

class HttpCall;
struct Refusal;

// Returns what a request needs to be permitted.
Right RightOf(const Route& route, Method method);

// Shared by all connections of a front end.
struct HttpShared {
  HttpShared(ServerContext& server, HttpOptions http)
      : context(server),
        options(std::move(http)),
        keeps_fields(!options.restrictions.empty() || options.forward),
        cors_headers("Content-Type, Content-Encoding, Inference-Header-Content-Length, traceparent") {
    for (const std::string& name : options.restrictions.HeaderNames()) cors_headers += ", " + name;
    if (server.access) cors_headers += ", Authorization";
  }
  ServerContext& context;
  const HttpOptions options;
  const bool keeps_fields;   // the options need all header fields of a request
  std::string cors_headers;  // the value of Access-Control-Allow-Headers
  bool metrics_only = false;
  WorkerThreads repository{4};  // load and unload models
  WorkerThreads files{2};       // list the repository; the file system may be slow
  WorkerThreads work{2};        // work that takes long but does not block
};

class HttpConnection : public Connection,
                       public Watcher,
                       public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done,
                 std::shared_ptr<HttpShared> shared);
  ~HttpConnection() override;

  void Start();
  void Drain() override;
  bool busy() const override { return !exchanges_.empty() || !out_.empty(); }
  void OnEvents(bool readable, bool writable, bool hang_up) override;

  const std::shared_ptr<LoopLink>& link() { return link_; }
  HttpShared& shared() { return *shared_; }
  ServerContext& context() { return shared_->context; }
  const Headers& fields() const { return fields_; }
  const Visitor& visitor() const { return visitor_; }  // of the current request
  const std::string& peer();

  // For handlers. Exchanges are registered in the order of their requests. A response can be written after
  // its exchange is registered.
  void Register(std::shared_ptr<Exchange> exchange);
  void Reply(Exchange& exchange, HttpReply reply);
  void ReplyLater(Exchange& exchange, HttpReply reply);
  void BeginStream(Exchange& exchange, int status, std::string_view type);
  void StreamText(Exchange& exchange, std::string_view text);
  void EndStream(Exchange& exchange);

 private:
  // kRefused: skips the body of a request that is refused whatever it contains.
  enum class State { kHead, kBody, kChunked, kRefused };

  // connection_read.cc
  void Run(bool readable, bool writable, bool hang_up);
  void Receive();
  Stream::Outcome ReadOnce(size_t& read, size_t& asked);
  Stream::Outcome SkipOnce(size_t& read, size_t& asked);
  void PrepareMemory();
  void Discard();
  bool Paused() const;
  bool BodyEnds() const;
  void ParseAll();
  bool ParseOne();
  bool ParseHeadOnly();
  bool BeginBody(size_t available);
  bool GrowBody(size_t bytes);
  bool FillBody();
  bool FeedChunks();
  bool FinishRefused();
  bool RefuseBody(uint64_t length, size_t available);
  void FinishRequest(Buffer body);
  void Refuse(HttpReply reply);
  void Refuse(int status, std::string_view message) { Refuse(ErrorReply(status, message)); }
  bool Reserve(size_t bytes);
  void CountRequest();
  void EndYield();
  void RefuseLongBody(uint64_t bytes);
  bool BetweenRequests() const { return state_ == State::kHead && begin_ == end_; }
  std::string_view Received() const { return {memory_.get() + begin_, end_ - begin_}; }

  // connection.cc
  void Progress();
  void Resume();
  void EndOrWait();
  void PopFinished();
  bool FlushOutput();
  void CountTaken(size_t bytes);
  uint64_t Unsent() const;
  void UpdateInterest();
  void OnHangUp();
  void EndWriting();
  void Close();
  template <class F> void Protected(F&& work);
  void OnTimer();
  void CheckTimes();
  std::chrono::milliseconds TimeLeft() const;
  std::chrono::milliseconds DrainTimeLeft() const;
  void Hurry(bool on);
  uint64_t BodyReceived() const;
  void ArmTimer(std::chrono::milliseconds delay);

  // connection_write.cc
  Output& Sink(Exchange& exchange);
  void AppendHead(std::string& out, const Exchange& exchange, const HttpReply& reply, uint64_t length);
  void AppendConnectionFields(std::string& out, const Exchange& exchange);
  void Finish(Exchange& exchange);
  void Prepare(Exchange& exchange);

  // dispatch.cc
  void Dispatch(Buffer body);
  bool IsPreflight() const;
  void StartCall(const Route& route, IncomingBody body);
  bool StartOpenAi(const Route& route, IncomingBody& body);
  std::shared_ptr<HttpCall> RefusedCall();
  void SendRefusal(const std::shared_ptr<HttpCall>& call);
  void StartControl(const Route& route, IncomingBody body);
  void ReplyNow(HttpReply reply);
  HttpReply Preflight() const;

  // access_check.cc
  std::optional<HttpReply> Forbidden(const Route& route);
  std::optional<HttpReply> CheckAccess(const Route& route);
  Refusal CheckModels(AccessControl& access, const Route& route);
  std::optional<HttpReply> OverQuota(size_t bytes);

  Loop& loop_;
  const std::unique_ptr<Stream> stream_;
  std::function<void()> done_;
  const std::shared_ptr<HttpShared> shared_;
  const std::shared_ptr<LoopLink> link_;

  // Receive memory. Bytes before floor_ belong to requests that are being processed, so they must not be
  // overwritten.
  std::shared_ptr<char[]> memory_;
  size_t floor_ = 0, begin_ = 0, end_ = 0;
  size_t line_ = 0;  // the argument `line` of ScanHead
  Clock::time_point read_time_, request_time_;
  Clock::time_point answer_time_;  // of the last response

  // The request that is being received.
  State state_ = State::kHead;
  RequestHead head_;  // its views are copied to method_, target_ and traceparent_
  std::string method_, target_, traceparent_;
  Headers fields_;  // empty unless HttpShared::keeps_fields
  uint64_t request_bytes_ = 0;
  Buffer body_;  // memory for a part of the body, or for all of it
  size_t body_bytes_ = 0, filled_ = 0;
  std::optional<ChunkDecoder> chunks_;
  std::shared_ptr<std::string> chunked_body_;
  ByteReservation reservation_;  // for its body
  std::shared_ptr<HttpCall> refused_;
  uint64_t to_skip_ = 0;  // bytes of the refused request that have not arrived yet

  // The sender of the current request, and the refusal of the request if there is one.
  Visitor visitor_;
  Permit permit_;
  std::string user_;  // visitor_'s name
  std::optional<HttpReply> forbidden_;
  // Facts about the peer, known from the first request on.
  bool identified_ = false;
  uint64_t address_ = 0;
  std::string peer_;
  std::shared_ptr<const PeerCertificate> certificate_;

  std::deque<std::shared_ptr<Exchange>> exchanges_;  // registered and not completely written
  Output out_;
  ByteReservation unsent_;     // for out_ and for responses that wait for earlier ones
  Clock::time_point read_by_;  // while owing_: the client must take more bytes until then
  bool owing_ = false;         // the socket did not take all of out_
  uint64_t timer_ = 0;
  Clock::time_point hurry_time_;  // when hurried_ became true
  uint64_t hurry_bytes_ = 0;      // BodyReceived() at that time
  Clock::time_point turn_end_;
  int turn_requests_ = 0;
  bool watching_ = false, watch_read_ = false, watch_write_ = false;
  bool busy_ = false;          // inside Run, which calls Progress at its end
  bool paused_ = false;        // parsing stopped because of Paused
  bool yielding_ = false;      // parsing continues after the other connections of the loop
  bool hurried_ = false;       // the server drains, so a request or the rest of one must arrive soon
  bool last_request_ = false;  // no more requests are taken
  bool draining_ = false;
  bool peer_closed_ = false;
  bool lingering_ = false;  // everything is written; the rest of the input is discarded
  bool closed_ = false;
};

// An exception ends the connection.
template <class F> void HttpConnection::Protected(F&& work) {
  const Status status = Guard([&] {
    work();
    return Status();
  });
  busy_ = false;
  if (!status.ok()) Close();
}

}  // namespace tern::server
