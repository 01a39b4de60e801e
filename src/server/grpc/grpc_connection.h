// An HTTP/2 connection of a gRPC client.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "server/core/worker_threads.h"
#include "server/grpc/flood_guard.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/grpc_stream.h"
#include "server/grpc/reply_box.h"

struct nghttp2_session;

namespace tern::server {

// The loop itself compresses and copies at most this many bytes at once.
inline constexpr uint64_t kMaxLoopBytes = uint64_t{64} << 10;
// The loop decompresses messages of at most kMaxLoopInflate bytes. After kMaxTurnInflated bytes in one turn,
// it starts no further message. Worker threads decompress the other messages.
inline constexpr size_t kMaxLoopInflate = size_t{16} << 10, kMaxTurnInflated = size_t{256} << 10;

inline constexpr int64_t kMinBytesPerMs = 1;  // least average rate at which a client sends and takes bytes

// Shared by all connections of a server. It outlives them.
struct GrpcShared {
  GrpcShared(ServerContext& server_context, const GrpcOptions& server_options);

  ServerContext& context;
  const GrpcOptions options;
  const bool keeps_headers;  // the options need all headers of a request
  MessageLimits limits;
  WorkerThreads repository{4};  // load and unload models
  WorkerThreads files{2};       // list the repository and open log files; the file system may be slow
  WorkerThreads work{2};        // compress, decompress and parse; do not block
};

// What a connection knows of its client.
struct ClientFacts {
  bool known = false;
  std::string peer;
  uint64_t address = 0;  // AddressKey
  std::shared_ptr<const PeerCertificate> certificate;
};

struct EndSession {
  void operator()(nghttp2_session* session) const;
};
using SessionPointer = std::unique_ptr<nghttp2_session, EndSession>;

// Used only on the thread of its loop.
class GrpcConnection : public Connection,
                       public Watcher,
                       public std::enable_shared_from_this<GrpcConnection> {
 public:
  GrpcConnection(std::shared_ptr<GrpcShared> shared, Loop& loop, std::unique_ptr<Stream> stream,
                 std::function<void()> done);
  ~GrpcConnection() override;
  Status Start();

  void Drain() override;
  bool busy() const override { return has_requests() || !out_.empty(); }
  void OnEvents(bool readable, bool writable, bool hang_up) override;
  void OnReply(Reply reply);
  void OnReplies(std::vector<Reply> replies);
  void RunTurn(const std::function<void(GrpcConnection&)>& work);
  GrpcStream* Find(int32_t id);  // null if the stream has ended
  const ClientFacts& client();

  // For streams and their Rpcs.
  GrpcShared& shared() { return *shared_; }
  ServerContext& context() { return shared_->context; }
  const std::shared_ptr<ReplyBox>& replies() { return replies_; }
  Clock::time_point now() const { return now_; }  // when the current call of Turn began
  // True while the response bytes that wait for the client exceed a limit. No further request is started
  // then.
  bool choked() const;
  // True if a stream must not add response bytes, because too many wait for the client. `outbox` is the
  // number of bytes of this stream that wait to be compressed.
  bool overloaded(size_t outbox) const;
  // Calls OnReleased of the stream when the connection is no longer choked.
  void Hold(int32_t stream) { held_.push_back(stream); }
  void CountPending(int64_t bytes) { pending_ += bytes; }
  void CountOutbox(int64_t bytes) { outbox_ += bytes; }
  // Counts replies that wait for earlier replies of their stream. The client cannot read them yet, so they do
  // not choke the connection.
  void CountOrdered(int64_t bytes) { ordered_ += bytes; }
  // True while the loop may decompress messages in this turn. CountInflated counts what it has decompressed.
  bool may_inflate() const { return inflated_ < kMaxTurnInflated; }
  void CountInflated(size_t bytes) { inflated_ += bytes; }
  // Calls Rpc::OnTimer of the stream after `delay`, unless the stream has ended.
  void CallAfter(std::chrono::milliseconds delay, int32_t stream);
  void SubmitHttpError(int32_t id, int code);
  void SubmitHeaders(GrpcStream& stream, bool compressed);
  void SubmitStatus(GrpcStream& stream);  // headers and trailers in one frame
  void SubmitTrailers(GrpcStream& stream);
  void ResumeSending(GrpcStream& stream);
  void Consume(int32_t stream, size_t bytes);  // returns bytes to the stream's window
  void ConsumeConnection(size_t bytes);

 private:
  uint64_t Unsent() const { return static_cast<uint64_t>(pending_ + outbox_) + out_.size(); }
  friend struct SessionCallbacks;

  template <class F> void Turn(F&& work);
  void EndTurn();
  void Read();
  bool ReadOnce();
  bool Feed(const void* data, size_t size);
  void ReleaseHeld();
  void PostTurn();
  void RefuseOtherProtocol(std::string_view bytes);
  void Fill();
  bool Write();
  void Flush();
  void WatchSocket();
  void ArmDeadlines();
  void ArmDeadline(int32_t id);
  void Flooded(const char* what) { flooded_ = what; }
  bool has_requests() const;
  void EndUnfinished();
  void SendGoAway();
  void StartDrain();
  void OnAge();
  void FinishDrain();
  void Linger();
  void Close();
  void ClosePreface();
  void StartTimers();
  void KeepAlive();
  void CheckPace();
  bool Crowded() const;
  void ResetStalled();
  bool Owing() const;
  void CountTaken(size_t written);
  uint64_t After(std::chrono::milliseconds delay, void (GrpcConnection::*function)());
  void AfterOnce(std::chrono::milliseconds delay, void (GrpcConnection::*function)());

  const std::shared_ptr<GrpcShared> shared_;
  Loop& loop_;
  std::unique_ptr<Stream> stream_;
  std::function<void()> done_;
  std::shared_ptr<ReplyBox> replies_;
  SessionPointer session_;
  std::unordered_map<int32_t, std::unique_ptr<GrpcStream>> streams_;
  std::vector<int32_t> fresh_;  // streams with a deadline that were opened in this turn
  std::vector<int32_t> held_;   // streams whose requests wait
  int32_t data_stream_ = 0;     // the stream of the DATA frame that is being received
  size_t data_left_ = 0;        // bytes of that frame that have not arrived
  OutBuffer out_;
  FloodGuard guard_;
  Clock::time_point now_, last_read_;
  Clock::time_point read_by_;     // the client must take more bytes of responses until then
  bool owing_ = false;            // whether Owing() was true at the end of the last turn
  int64_t pending_ = 0;           // bytes of responses that streams hold and can send
  int64_t outbox_ = 0;            // bytes of responses that wait to be compressed
  int64_t ordered_ = 0;           // bytes of responses that wait for earlier ones
  size_t data_out_ = 0;           // bytes of responses in out_
  ByteReservation unsent_;        // for all bytes counted above
  size_t inflated_ = 0;           // bytes that this turn has decompressed
  std::vector<uint64_t> timers_;  // timers that run once
  uint64_t keepalive_timer_ = 0, pace_timer_ = 0;
  ClientFacts client_;
  const char* flooded_ = nullptr;
  bool in_turn_ = false, turn_posted_ = false, watches_read_ = true, watches_write_ = false;
  bool started_ = false;   // the client's preface has arrived
  bool stopping_ = false;  // the server drains, not only this connection
  bool draining_ = false, drain_announced_ = false, refusing_ = false, lingering_ = false, closed_ = false;
};

}  // namespace tern::server
