// The part of HttpConnection that finds the operation for a request.
#include <algorithm>

#include "server/dialects/openai/completion_call.h"
#include "server/dialects/openai/embedding_call.h"
#include "server/dialects/tfs/http_call.h"
#include "server/dialects/tfs/model_spec.h"
#include "server/http/connection.h"
#include "server/http/control_routes.h"
#include "server/http/http_call.h"
#include "server/http/route_hints.h"

namespace tern::server {
namespace {

// The loop parses JSON of at most this size. Other threads parse longer JSON, because the other connections
// of the loop would wait.
constexpr size_t kMaxLoopJson = size_t{256} << 10;

bool IsCall(RouteKind kind) {
  return kind == RouteKind::kInfer || kind == RouteKind::kGenerate || kind == RouteKind::kGenerateStream ||
         tfs::IsCall(kind);
}

Result<std::shared_ptr<ModelVersion>> FindModel(const Registry& models, const Route& route) {
  return tfs::IsCall(route.kind) ? tfs::FindVersion(models, {route.model, route.version, route.label, {}})
                                 : models.Find(route.model, route.version);
}

HttpCall::Mode ModeOf(RouteKind kind) {
  return kind == RouteKind::kInfer      ? HttpCall::Mode::kInfer
         : kind == RouteKind::kGenerate ? HttpCall::Mode::kGenerate
                                        : HttpCall::Mode::kGenerateStream;
}

std::shared_ptr<HttpCall> NewCall(RouteKind kind, HttpConnection& connection,
                                  std::shared_ptr<ModelVersion> version) {
  if (tfs::IsCall(kind)) return tfs::MakeHttpCall(kind, connection, std::move(version));
  return std::make_shared<HttpCall>(ModeOf(kind), connection, std::move(version));
}

}  // namespace

// A preflight is always allowed, because browsers send it without the header of a restricted operation.
bool HttpConnection::IsPreflight() const {
  return head_.method == Method::kOptions && !shared_->options.cors_origin.empty();
}

void HttpConnection::Dispatch(Buffer bytes) {
  if (IsPreflight()) return ReplyNow(Preflight());
  Route route = ParseRoute(target_, shared_->options.base_path);
  if (forbidden_) return ReplyNow(std::move(*forbidden_));
  const bool metrics = route.kind == RouteKind::kMetrics;
  if (metrics && !shared_->options.metrics) return ReplyNow(ErrorReply(404, MetricsElsewhereText()));
  if (!metrics && shared_->metrics_only) return ReplyNow(ErrorReply(404, NoMetricsText()));
  if (route.kind == RouteKind::kNotFound)
    return ReplyNow(ErrorReply(404, NotFoundText(target_, shared_->options.base_path)));
  if (route.kind != RouteKind::kBadTarget && !Allows(route.kind, head_.method)) {
    HttpReply reply = ErrorReply(405, WrongMethodText(route.kind));
    reply.allow = AllowedMethods(route.kind);
    return ReplyNow(std::move(reply));
  }
  const Encoding encoding = bytes.size() > 0 ? head_.encoding : Encoding::kIdentity;
  IncomingBody body{std::move(bytes), encoding, std::move(reservation_)};
  if (IsCall(route.kind)) return StartCall(route, std::move(body));
  if (StartOpenAi(route, body)) return;
  StartControl(route, std::move(body));
}

void HttpConnection::ReplyNow(HttpReply reply) {
  const auto exchange = std::make_shared<Exchange>();
  Register(exchange);
  Reply(*exchange, std::move(reply));
}

HttpReply HttpConnection::Preflight() const {
  HttpReply reply;
  reply.status = 204;
  reply.type = {};
  reply.preflight = true;
  return reply;
}

// Starts a request of OpenAI's API. Returns false for other routes.
bool HttpConnection::StartOpenAi(const Route& route, IncomingBody& body) {
  const auto start = [&](const auto& call) {
    call->Hold(std::move(permit_));
    Register(call);
    call->Start(*this, std::move(body));
    return true;
  };
  if (route.kind == RouteKind::kOpenAiEmbeddings) return start(std::make_shared<EmbeddingCall>(*this));
  if (route.kind != RouteKind::kOpenAiCompletions && route.kind != RouteKind::kOpenAiChat) return false;
  return start(std::make_shared<CompletionCall>(*this, route.kind == RouteKind::kOpenAiChat));
}

void HttpConnection::StartCall(const Route& route, IncomingBody body) {
  auto found = FindModel(*context().models, route);
  if (!found.ok()) return ReplyNow(ErrorReply(found.status()));
  const auto call = NewCall(route.kind, *this, std::move(*found));
  call->Hold(std::move(permit_));
  Register(call);
  if (call->RefuseIfOverloaded()) return;
  // Only infer requests have binary data behind their JSON. The header must not make other JSON look short.
  const bool infer = route.kind == RouteKind::kInfer;
  const BodyFormat format{infer ? head_.infer_header : std::nullopt, head_.body_type};
  const uint64_t json = std::min<uint64_t>(format.infer_header.value_or(UINT64_MAX), body.bytes.size());
  if (body.encoding == Encoding::kIdentity && json <= kMaxLoopJson)
    return call->Start(*this, std::move(body), format);
  auto shared_body = std::make_shared<IncomingBody>(std::move(body));
  if (!shared_->work.Post([call, shared_body, format] { call->StartLater(std::move(*shared_body), format); }))
    Reply(*call, ErrorReply(ResourceExhausted("too many long requests wait")));
}

// Returns a call that its model refuses now, whatever the body contains, or null.
std::shared_ptr<HttpCall> HttpConnection::RefusedCall() {
  const Route route = ParseRoute(target_, shared_->options.base_path);
  if (shared_->metrics_only || !IsCall(route.kind) || !Allows(route.kind, head_.method)) return nullptr;
  auto found = FindModel(*context().models, route);
  if (!found.ok()) return nullptr;
  auto call = NewCall(route.kind, *this, std::move(*found));
  return call->RefuseEarly(request_time_) ? call : nullptr;
}

void HttpConnection::SendRefusal(const std::shared_ptr<HttpCall>& call) {
  Register(call);
  call->SendRefusal();
}

void HttpConnection::StartControl(const Route& route, IncomingBody body) {
  const auto exchange = std::make_shared<Exchange>();
  Register(exchange);
  const bool compressed = body.encoding != Encoding::kIdentity;
  RouteThread thread = compressed ? std::max(ThreadOf(route.kind), RouteThread::kWork) : ThreadOf(route.kind);
  std::optional<HttpActor> actor;
  if (context().audit && Changes(route.kind, head_.method)) {
    actor = HttpActor{user_, peer(), target_};
    thread = std::max(thread, RouteThread::kFiles);  // the audit log waits for the disk
  }
  if (thread == RouteThread::kLoop)
    return Reply(*exchange, HandleControl(context(), route, head_.method, body.text()));
  WorkerThreads& threads = thread == RouteThread::kWork    ? shared_->work
                           : thread == RouteThread::kFiles ? shared_->files
                                                           : shared_->repository;
  const bool posted =
      threads.Post([self = weak_from_this(), &context = context(), loop = &loop_, exchange, route, actor,
                    method = head_.method, body = std::make_shared<IncomingBody>(std::move(body))] {
        std::optional<HttpReply> refused = body->Decode(context);
        auto reply =
            std::make_shared<HttpReply>(refused ? std::move(*refused)
                                        : actor ? HandleAudited(context, route, method, body->text(), *actor)
                                                : HandleControl(context, route, method, body->text()));
        CompressReply(exchange->accept, *reply);
        loop->Post([self, exchange, reply] {
          if (auto connection = self.lock()) connection->ReplyLater(*exchange, std::move(*reply));
        });
      });
  if (!posted) Reply(*exchange, ErrorReply(ResourceExhausted("too many requests of this kind wait")));
}

}  // namespace tern::server
