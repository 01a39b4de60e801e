#include "server/load/client.h"

namespace tern::server::loadgen {
namespace {

class OneAnswer final : public AnswerSink {
 public:
  explicit OneAnswer(Loop& loop) : loop_(loop) {}
  void OnAnswer(ClientConnection&, const Answer& answer) override {
    answer_ = answer;
    loop_.Stop();
  }
  Answer answer_;

 private:
  Loop& loop_;
};

}  // namespace

Result<Answer> CallOnce(const Url& url, bool grpc, const RequestBytes& request, double timeout_seconds) {
  TERN_ASSIGN(std::unique_ptr<Loop> loop, Loop::Create());
  OneAnswer sink(*loop);
  const auto connection = grpc ? ConnectGrpc(*loop, url, sink) : ConnectHttp(*loop, url, sink);
  loop->Post([&] { connection->Send(request, true); });
  loop->After(std::chrono::milliseconds(static_cast<int64_t>(timeout_seconds * 1000)),
              [&] { connection->Abort("the server does not answer"); });
  loop->Run();
  if (sink.answer_.status < 0) return IoError(sink.answer_.message);
  return std::move(sink.answer_);
}

}  // namespace tern::server::loadgen
