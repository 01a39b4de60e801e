// The part of CompletionCall that runs on the connection's loop. It makes the reply from the events.
#include <algorithm>

#include "server/dialects/openai/completion_call.h"
#include "server/dialects/openai/embedding_call.h"
#include "server/http/json_writer.h"

namespace tern::server {

void CompletionCall::OnEvent(size_t index, GenerationEvent event) {
  const auto connection = connection_.lock();
  if (event.last() && --unfinished_ == 0) {
    reservation_ = {};
    permit_.Release();
  }
  if (!connection || answered) return;
  const Status status = Guard([&] {
    Deliver(*connection, index, std::move(event));
    return Status();
  });
  if (!status.ok() && !answered) Fail(*connection, status);
}

void CompletionCall::Deliver(HttpConnection& connection, size_t index, GenerationEvent event) {
  if (!event.status.ok()) return Fail(connection, event.status);
  // A token may expire during a long stream.
  if (streaming_ && !visitor_.Valid())
    return Fail(connection, Unavailable("the credentials of this request are no longer valid"));
  ChoiceText& choice = choices_[index];
  if (event.last()) {
    usage_.completion += event.generated;
    choice.finish = event.finish;
  }
  if (request_.stream) {
    ChoiceText part = choice;
    part.text += event.text;  // for echo, part.text is the prompt before the first event
    part.logprobs = std::move(event.logprobs);
    choice.text.clear();
    choice.first = false;
    choice.text_offset += chat_ ? 0 : writer_->Characters(part.logprobs);
    DeliverPart(connection, std::move(part));
  } else {
    choice.text += event.text;
    choice.logprobs.insert(choice.logprobs.end(), event.logprobs.begin(), event.logprobs.end());
  }
  if (unfinished_ == 0) End(connection);
}

// The message of a chat begins with an event of its role and ends with an event of its finish reason, as
// OpenAI's does.
void CompletionCall::DeliverPart(HttpConnection& connection, ChoiceText part) {
  std::string events;
  if (!streaming_) connection.BeginStream(*this, 200, "text/event-stream; charset=utf-8");
  streaming_ = true;
  if (chat_ && part.first) {
    ChoiceText role;
    role.index = part.index;
    role.first = true;
    events += writer_->Event(role);
    part.first = false;
  }
  const FinishReason finish = part.finish;
  if (chat_) part.finish = FinishReason::kNone;
  if (!chat_ || !part.text.empty() || !part.logprobs.empty()) events += writer_->Event(part);
  if (chat_ && finish != FinishReason::kNone) {
    ChoiceText end;
    end.index = part.index;
    end.finish = finish;
    events += writer_->Event(end);
  }
  connection.StreamText(*this, events);
}

void CompletionCall::End(HttpConnection& connection) {
  if (request_.stream) {
    std::string events = request_.include_usage ? writer_->UsageEvent(usage_) : std::string();
    connection.StreamText(*this, events + "data: [DONE]\n\n");
    return connection.EndStream(*this);
  }
  HttpReply reply = JsonReply(writer_->Whole(choices_, usage_));
  reply.compress = true;
  connection.Reply(*this, std::move(reply));
}

// The error of one sequence answers the whole request, so the other sequences are cancelled.
void CompletionCall::Fail(HttpConnection& connection, const Status& status) {
  CancelAll();
  if (!streaming_) return connection.Reply(*this, OpenAiError(status));
  error = status.message();
  connection.StreamText(*this, "data: " + OpenAiErrorJson(status) + "\n\n");
  connection.EndStream(*this);
}

HttpReply ListOpenAiModels(const Registry& models) {
  // Models that make embeddings do not know when they were loaded.
  static const int64_t kStarted =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::string out = "{\"object\":\"list\",\"data\":[";
  std::string last;
  for (const auto& version : models.All()) {
    const TextGenerator* generator = version->generator();
    if ((!generator && !EmbedderOf(version)) || version->config().name == last) continue;
    last = version->config().name;
    if (out.back() != '[') out += ',';
    out += "{\"id\":";
    AppendJson(out, last);
    out += ",\"object\":\"model\",\"created\":";
    AppendJsonNumber(out, generator ? generator->info().created : kStarted);
    out += ",\"owned_by\":\"tern\"}";
  }
  return JsonReply(out + "]}");
}

}  // namespace tern::server
