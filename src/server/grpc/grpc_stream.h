// One HTTP/2 stream. It reads the request's messages, passes them to its Rpc, and sends the answers.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "server/access/identity.h"
#include "server/grpc/metadata.h"
#include "server/grpc/out_buffer.h"
#include "server/grpc/rpc.h"

namespace tern::server {

class GrpcConnection;

// Used only on the thread of its loop.
class GrpcStream {
 public:
  GrpcStream(GrpcConnection& connection, int32_t id, Clock::time_point arrived);
  ~GrpcStream();

  // Called by the connection when it receives something from the client.
  void OnHeader(std::string_view name, std::string_view value);
  void OnHeaders();
  void OnData(const char* data, size_t size);
  void OnEnd();
  void OnClose();  // the stream has ended; the connection destroys this object next
  void OnDeadline();
  void CheckPace();      // aborts a call whose message arrives too slowly, or whose identity has expired
  bool stalled() const;  // the client takes its responses too slowly
  void OnUnread();       // the connection resets the stream, because it is stalled
  // Returns the memory for the next bytes of the request's body, so that they can be received there.
  Buffer Room() { return finished_ ? Buffer() : reader_.Room(); }
  // Passes the messages to the Rpc that had to wait until the client read earlier responses.
  void OnReleased();
  // Passes further messages to the Rpc after Pause.
  void OnContinue();
  Rpc* rpc() { return finished_ ? nullptr : rpc_.get(); }
  bool accepted() const { return finished_ || rpc_; }  // its headers are complete

  // Called by the connection when it sends. pending() is the number of bytes that can be sent. Emit moves the
  // first `size` of them to `out`.
  size_t pending() const { return pending_; }
  void Emit(size_t size, OutBuffer& out);
  bool finished() const { return finished_; }
  // True if nothing follows the bytes of pending().
  bool ended() const { return finished_ && !compressing_ && outbox_.empty(); }
  const GrpcStatus& status() const { return status_; }
  uint64_t deadline_timer = 0;
  bool waiting = false;  // the session asked for data when there was none, so ResumeSending must be called

  // Called by the Rpc.
  void Send(OutMessage message);
  void Finish(GrpcStatus status);
  void Finish(const Status& status) { Finish(GrpcStatus::Of(status)); }
  // Opens the client's flow-control window again after the Rpc was full.
  void Resume();
  // Passes no further messages to the Rpc until OnContinue, because another thread works on the last one.
  void Pause() { paused_ = true; }
  void Record(AccessRecord record) const;

  // access_check.cc
  const Visitor& visitor() const { return visitor_; }
  GrpcStatus CheckModel(std::string_view model) const;
  GrpcStatus CheckValid() const;  // the identity of a long stream may expire
  // Takes a place in the tenant's quota for an inference. `further`: the inference is not the first one of
  // its stream.
  GrpcStatus Admit(const InMessage& message, bool further, Permit& permit) const;

  GrpcConnection& connection() { return connection_; }
  int32_t id() const { return id_; }
  const Metadata& metadata() const { return metadata_; }
  const Headers& headers() const { return headers_; }
  Clock::time_point arrived() const { return arrived_; }
  // The header grpc-timeout; negative if the client sets no deadline.
  std::chrono::nanoseconds timeout() const { return metadata_.timeout; }

 private:
  GrpcStatus CheckHeaders();
  GrpcStatus CheckAccess();
  void Pass(InMessage message);
  void FinishHttp(int code);
  void Abort(GrpcStatus status);  // also cancels the Rpc
  void TakeMessage();
  void PassMessages();
  bool InflateNow(InMessage& message);
  void StartInflating(InMessage message);
  void OnInflated(InMessage message, GrpcStatus status);
  bool Held();
  bool Waiting() const { return !finished_ && (paused_ || end_waits_ || !inbox_.empty()); }
  void ReturnWindow();
  bool Compresses() const;
  bool TakesLong(const OutMessage& message) const;
  void PassOutbox();
  bool StartCompressing(OutMessage& message);
  void OnCompressed(OutMessage message, size_t plain);
  void QueueShort(OutMessage message);
  void Queue(OutMessage message);
  void CountOutbox(int64_t bytes);
  void RecordSelf();

  GrpcConnection& connection_;
  const int32_t id_;
  const Clock::time_point arrived_;
  Metadata metadata_;
  Headers headers_;            // of the application; empty unless GrpcShared::keeps_headers
  std::string authorization_;  // the first header of that name
  size_t authorizations_ = 0;
  Visitor visitor_;
  const RpcMethod* method_ = nullptr;
  std::string unknown_path_;
  size_t header_bytes_ = 0;
  MessageReader reader_;
  std::list<InMessage> inbox_;  // messages that the Rpc has not got yet
  bool paused_ = false;         // another thread decompresses or parses the message before them
  bool end_waits_ = false;      // the end of the request comes after them
  bool held_ = false;           // the connection calls OnReleased
  std::unique_ptr<Rpc> rpc_;
  std::list<OutMessage> outbox_;  // messages after one that is being compressed
  size_t outbox_bytes_ = 0;       // of outbox_ and of the message that is being compressed
  bool compressing_ = false;
  std::vector<OutMessage> queue_;
  size_t first_ = 0;              // index in queue_ of the message that is being sent
  size_t part_ = 0, offset_ = 0;  // the position in that message
  size_t pending_ = 0;            // bytes of queue_ that are not sent
  Clock::time_point read_by_;     // while pending_: the client must take more bytes until then
  Clock::time_point message_began_;
  // Bytes of the request that are not returned to the window of the stream and of the connection yet.
  size_t stream_window_ = 0, connection_window_ = 0;
  uint64_t received_ = 0, sent_ = 0;
  GrpcStatus status_;
  bool responded_ = false, finished_ = false, recorded_ = false;
};

}  // namespace tern::server
