// A request for completions, and its sequences.
#pragma once
#include <mutex>

#include "server/dialects/openai/completion_request.h"
#include "server/dialects/openai/openai_reply.h"
#include "server/generate/generator.h"
#include "server/http/connection.h"

namespace tern::server {

// The members that are not constant are used on the connection's loop, except where noted.
class CompletionCall : public Exchange, public std::enable_shared_from_this<CompletionCall> {
 public:
  CompletionCall(HttpConnection& connection, bool chat);
  // Reads the body on another thread and starts the sequences. The call is registered with its connection.
  void Start(HttpConnection& connection, IncomingBody body);
  // Keeps the place of the request in its tenant's quota until all sequences have ended.
  void Hold(Permit permit) { permit_ = std::move(permit); }
  void Abandon() override;
  void Describe(AccessRecord& record) const override;

 private:
  class Sink;

  // On a worker thread.
  void Prepare(IncomingBody body);
  RequestFault Begin(std::string_view body);
  Status FindModel();
  Status MakePrompts(std::vector<std::vector<int64_t>>& prompts);
  Result<std::string> RenderChat() const;
  GenerationOptions OptionsOf(const std::vector<int64_t>& prompt, int64_t choice) const;
  Status CheckSizes(const std::vector<std::vector<int64_t>>& prompts) const;
  Status Submit(std::vector<std::vector<int64_t>> prompts);
  void Refuse(HttpReply reply);

  void OnEvent(size_t index, GenerationEvent event);
  void Deliver(HttpConnection& connection, size_t index, GenerationEvent event);
  void DeliverPart(HttpConnection& connection, ChoiceText part);
  void Fail(HttpConnection& connection, const Status& status);
  void End(HttpConnection& connection);
  void CancelAll();

  const bool chat_;
  const std::shared_ptr<LoopLink> loop_;
  ServerContext& context_;
  const std::weak_ptr<HttpConnection> connection_;
  const Visitor visitor_;
  Permit permit_;

  // Written before the first event; then constant.
  CompletionRequest request_;
  std::shared_ptr<ModelVersion> version_;  // until then under mutex_, because Describe may be called earlier
  TextGenerator* generator_ = nullptr;     // of version_
  std::optional<CompletionWriter> writer_;
  std::vector<std::string> echoes_;  // by prompt
  TokenUsage usage_;

  mutable std::mutex mutex_;
  Generations generations_;  // under mutex_
  bool abandoned_ = false;   // under mutex_

  std::vector<ChoiceText> choices_;
  size_t unfinished_ = 0;
  bool streaming_ = false;       // the head of the event stream is written
  ByteReservation reservation_;  // of the body; until all sequences have ended
};

// The models that this API can use: {"object": "list", "data": […]}.
HttpReply ListOpenAiModels(const Registry& models);

}  // namespace tern::server
