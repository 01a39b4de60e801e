// The rpc ModelStreamInfer: any number of inferences on one stream.
#include <map>

#include "server/grpc/grpc_connection.h"
#include "server/grpc/infer_call.h"

namespace tern::server {
namespace {

int64_t SizeOf(const Reply& reply) { return reply.message ? static_cast<int64_t>(reply.message->size()) : 0; }

// Responses of decoupled models are sent at once. Responses of other models are sent in the order of their
// requests, because clients match requests and responses by that order.
class StreamInferRpc : public Rpc {
 public:
  using Rpc::Rpc;
  ~StreamInferRpc() override { CountHeld(-held_bytes_); }

  void OnMessage(InMessage message) override;
  void OnEnd() override;
  void OnReply(Reply reply) override;
  void OnDrain() override;
  void OnCancel() override;
  bool records_calls() const override { return true; }
  bool full() const override { return calls_.size() >= kMaxCalls; }

 private:
  static constexpr size_t kMaxCalls = 1024;

  struct Entry {
    std::shared_ptr<InferCall> call;
    Clock::time_point arrived;
    uint64_t bytes = 0;
    std::vector<Reply> held;  // replies that wait for those of earlier calls
  };

  bool MustWait(uint64_t number) const;
  bool Write(uint64_t number, Reply reply);
  void WriteHeld();
  void CountHeld(int64_t bytes);
  void Advance();
  void RecordCall(const Entry& entry, const Reply& reply) const;
  void CancelAll();

  std::map<uint64_t, Entry> calls_;  // unfinished calls by number
  int64_t held_bytes_ = 0;           // of all replies that wait
  uint64_t next_ = 0;
  bool ended_ = false, draining_ = false;
};

void StreamInferRpc::OnMessage(InMessage message) {
  const uint64_t number = next_++;
  auto call = std::make_shared<InferCall>(stream_.connection().replies(), stream_.id(), number, true);
  calls_[number] = {call, stream_.connection().now(), message.bytes.size(), {}};
  Permit permit;
  GrpcStatus refused = stream_.Admit(message, true, permit);
  if (!refused.ok()) {
    Reply reply = call->ErrorReply(ResourceExhausted(refused.message));
    reply.status = std::move(refused);
    return OnReply(std::move(reply));
  }
  call->Hold(std::move(permit));
  const Status status = InferCall::Submit(call, std::move(message), stream_);
  if (!status.ok()) OnReply(call->ErrorReply(status));
}

bool StreamInferRpc::MustWait(uint64_t number) const {
  for (const auto& [earlier, entry] : calls_) {
    if (earlier == number) return false;
    if (!entry.call->decoupled()) return !calls_.at(number).call->decoupled();
  }
  return false;
}

void StreamInferRpc::OnReply(Reply reply) {
  const uint64_t number = reply.call;
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  if (MustWait(number)) {
    CountHeld(SizeOf(reply));
    found->second.held.push_back(std::move(reply));
    return;
  }
  if (!Write(number, std::move(reply))) return;
  WriteHeld();
  Advance();
}

// Replies that wait count in the budget of the server.
void StreamInferRpc::CountHeld(int64_t bytes) {
  held_bytes_ += bytes;
  stream_.connection().CountOrdered(bytes);
}

// Returns false if the stream has ended.
bool StreamInferRpc::Write(uint64_t number, Reply reply) {
  if (GrpcStatus expired = stream_.CheckValid(); !expired.ok()) {
    stream_.Finish(std::move(expired));
    CancelAll();
    return false;
  }
  if (reply.final) {
    RecordCall(calls_.at(number), reply);
    calls_.erase(number);
  }
  if (!reply.status.ok() && (stream_.metadata().stream_errors || !reply.message)) {
    stream_.Finish(std::move(reply.status));
    CancelAll();
    return false;
  }
  if (reply.message) stream_.Send(std::move(*reply.message));
  return true;
}

// Writes the replies that waited for a call that is now finished.
void StreamInferRpc::WriteHeld() {
  for (auto next = calls_.begin(); next != calls_.end();) {
    const auto at = next++;
    const uint64_t number = at->first;
    if (at->second.call->decoupled()) continue;
    std::vector<Reply> held = std::move(at->second.held);
    at->second.held.clear();
    for (const Reply& reply : held) CountHeld(-SizeOf(reply));
    const bool done = !held.empty() && held.back().final;
    for (Reply& reply : held)
      if (!Write(number, std::move(reply))) return;
    if (!done) return;  // all later calls wait for this one
  }
}

// Ends the stream after the last call.
void StreamInferRpc::Advance() {
  if (stream_.finished()) return;
  if (!full()) stream_.Resume();
  if (!calls_.empty()) return;
  if (ended_) return stream_.Finish(GrpcStatus());
  if (draining_) stream_.Finish({GrpcCode::kUnavailable, "Server exiting", 0});
}

void StreamInferRpc::OnEnd() {
  ended_ = true;
  Advance();
}

void StreamInferRpc::OnDrain() {
  draining_ = true;
  Advance();
}

void StreamInferRpc::OnCancel() { CancelAll(); }

void StreamInferRpc::CancelAll() {
  // Cancel may cause a reply at once. The stream drops that reply, because the stream is finished.
  for (const auto& [number, entry] : calls_) entry.call->Cancel();
}

void StreamInferRpc::RecordCall(const Entry& entry, const Reply& reply) const {
  AccessRecord record;
  record.status = static_cast<int>(reply.status.code);
  record.error = reply.status.message;
  record.received = entry.bytes;
  record.sent = reply.message ? reply.message->size() : 0;
  record.duration = Clock::now() - entry.arrived;
  entry.call->Describe(record);
  stream_.Record(record);
}

}  // namespace

std::unique_ptr<Rpc> MakeStreamInferRpc(GrpcStream& stream, const RpcMethod&) {
  return std::make_unique<StreamInferRpc>(stream);
}

}  // namespace tern::server
