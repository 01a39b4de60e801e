#include "server/dialects/tfs/http_call.h"

#include "server/dialects/tfs/model_spec.h"
#include "server/dialects/tfs/rest_reply.h"
#include "server/dialects/tfs/run.h"
#include "server/http/http_call.h"

namespace tern::server::tfs {
namespace {

class TfsHttpCall final : public HttpCall {
 public:
  TfsHttpCall(RouteKind kind, HttpConnection& connection, std::shared_ptr<ModelVersion> version)
      : HttpCall(Mode::kDialect, connection, std::move(version)), kind_(kind) {}

 protected:
  Status ReadDialect(const IncomingBody& body, const InferSource& source, uint64_t& converted) override {
    BodyParts parts;
    TERN_TRY(FindParts(body.text(), *source.limits, parts));
    TERN_ASSIGN(run_.signature, ChooseSignature(*version(), parts.signature));
    const ModelConfig& config = *run_.signature.config;
    if (kind_ == RouteKind::kTfsPredict) {
      TERN_TRY(ReadPredict(body.text(), parts, config, *source.limits, request, layout_));
    } else {
      Examples examples;
      run_.limit = source.limits->body_bytes;
      TERN_TRY(ReadExamples(body.text(), parts, *source.limits, examples));
      TERN_TRY(kind_ == RouteKind::kTfsClassify ? ReadClassify(examples, run_, request)
                                                : ReadRegress(examples, run_, request));
    }
    for (const WireTensor& input : request.inputs) converted += input.bytes.size();
    return PrepareRun(run_, request);
  }

  void Submit() override { SubmitRun(run_, version(), shared_from_this()); }

  HttpReply DialectReply(Response& response) override {
    if (!response.status.ok()) return ErrorReply(response.status, response.retry_after);
    HttpReply reply;
    reply.compress = true;
    const Status status = Append(reply.body, response);
    return status.ok() ? std::move(reply) : ErrorReply(status);
  }

 private:
  Status Append(std::string& out, Response& response) {
    FinishRun(run_, response);
    const ModelConfig& config = *run_.signature.config;
    if (kind_ == RouteKind::kTfsPredict) return AppendPrediction(out, response.outputs, layout_);
    if (kind_ == RouteKind::kTfsClassify) {
      TERN_ASSIGN(const auto classes, MakeClasses(config, response, run_.items));
      AppendClasses(out, classes);
      return {};
    }
    TERN_ASSIGN(const auto values, MakeRegressions(config, response, run_.items));
    AppendRegressions(out, values);
    return {};
  }

  const RouteKind kind_;
  Layout layout_ = Layout::kRow;
  Run run_;
};

}  // namespace

std::shared_ptr<HttpCall> MakeHttpCall(RouteKind kind, HttpConnection& connection,
                                       std::shared_ptr<ModelVersion> version) {
  return std::make_shared<TfsHttpCall>(kind, connection, std::move(version));
}

}  // namespace tern::server::tfs
