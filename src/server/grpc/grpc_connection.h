// An HTTP/2 connection of a gRPC client.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "server/grpc/flood_guard.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/grpc_stream.h"
#include "server/grpc/reply_box.h"
#include "server/grpc/worker_threads.h"

struct nghttp2_session;

namespace tern::server {

// Shared by all connections of a server. It outlives them.
struct GrpcShared {
  GrpcShared(ServerContext& server_context, const GrpcOptions& server_options);

  ServerContext& context;
  const GrpcOptions options;
  const bool keeps_headers;  // the options need all headers of a request
  MessageLimits limits;
  WorkerThreads workers{4};
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
  void OnEvents(bool readable, bool writable, bool hang_up) override;
  void OnReply(Reply reply);
  void OnReplies(std::vector<Reply> replies);

  // For streams and their Rpcs.
  GrpcShared& shared() { return *shared_; }
  ServerContext& context() { return shared_->context; }
  const std::shared_ptr<ReplyBox>& replies() { return replies_; }
  Clock::time_point now() const { return now_; }  // when the current call of Turn began
  // True if too many response bytes wait because the client does not read them.
  bool overloaded() const;
  void CountPending(int64_t bytes) { pending_ += bytes; }
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
  friend struct SessionCallbacks;

  GrpcStream* Find(int32_t id);
  template <class F> void Turn(F&& work);
  void EndTurn();
  void Read();
  bool ReadOnce();
  void RefuseOtherProtocol(std::string_view bytes);
  void Fill();
  bool Write();
  void Flush();
  void WatchSocket();
  void ArmDeadlines();
  void ArmDeadline(int32_t id);
  void Flooded(const char* what) { flooded_ = what; }
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
  OutBuffer out_;
  FloodGuard guard_;
  Clock::time_point now_, last_read_;
  Clock::time_point last_write_;  // when the socket took bytes, or when there were none
  int64_t pending_ = 0;           // bytes of responses that streams hold
  std::vector<uint64_t> timers_;  // that run once
  uint64_t keepalive_timer_ = 0, pace_timer_ = 0;
  const char* flooded_ = nullptr;
  bool in_turn_ = false, flush_posted_ = false, watches_write_ = false;
  bool started_ = false;  // the client's preface has arrived
  bool draining_ = false, drain_announced_ = false, refusing_ = false, lingering_ = false, closed_ = false;
};

}  // namespace tern::server
