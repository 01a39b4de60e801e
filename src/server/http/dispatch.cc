// The part of HttpConnection that finds the operation for a request.
#include "server/http/connection.h"
#include "server/http/control_routes.h"
#include "server/http/http_call.h"

namespace tern::server {
namespace {

std::string_view ViewOf(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsCall(RouteKind kind) {
  return kind == RouteKind::kInfer || kind == RouteKind::kGenerate || kind == RouteKind::kGenerateStream;
}

HttpCall::Mode ModeOf(RouteKind kind) {
  return kind == RouteKind::kInfer      ? HttpCall::Mode::kInfer
         : kind == RouteKind::kGenerate ? HttpCall::Mode::kGenerate
                                        : HttpCall::Mode::kGenerateStream;
}

}  // namespace

void HttpConnection::Dispatch(Buffer body) {
  // Browsers send a preflight without the header of a restricted operation.
  if (head_.method == Method::kOptions && !shared_->options.cors_origin.empty()) return ReplyNow(Preflight());
  Route route = ParseRoute(target_, shared_->options.base_path);
  if (const auto* secret = shared_->options.restrictions.Missing(GroupOf(route.kind), fields_))
    return ReplyNow(
        ErrorReply(403, StrCat("This API is restricted, expecting header '", secret->header, "'")));
  if (head_.encoding != Encoding::kIdentity && body.size() > 0) {
    auto plain = Decompress(ViewOf(body), shared_->context.limits.body_bytes);
    if (!plain.ok())
      return ReplyNow(ErrorReply(plain.status().code() == Code::kResourceExhausted ? 413 : 400,
                                 plain.status().message()));
    if (!reservation_.Add(shared_->context, plain->size()))
      return ReplyNow(ErrorReply(TooManyQueuedBytes(shared_->context, plain->size())));
    body = std::move(*plain);
  }
  const bool metrics = route.kind == RouteKind::kMetrics;
  if (metrics ? !shared_->options.metrics : shared_->metrics_only) route.kind = RouteKind::kNotFound;
  if (route.kind != RouteKind::kNotFound && route.kind != RouteKind::kBadTarget &&
      !Allows(route.kind, head_.method)) {
    HttpReply reply = ErrorReply(405, "Method Not Allowed");
    reply.allow = AllowedMethods(route.kind);
    return ReplyNow(std::move(reply));
  }
  if (IsCall(route.kind)) return StartCall(route, std::move(body));
  StartControl(std::move(route), std::move(body));
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

void HttpConnection::StartCall(const Route& route, Buffer body) {
  auto found = context().models->Find(route.model, route.version);
  if (!found.ok()) return ReplyNow(ErrorReply(found.status()));
  const auto call = std::make_shared<HttpCall>(ModeOf(route.kind), *this, std::move(*found));
  Register(call);
  call->Start(*this, body, head_.infer_header, std::move(reservation_));
}

void HttpConnection::StartControl(Route route, Buffer body) {
  if (!MayWait(route.kind)) return ReplyNow(HandleControl(context(), route, head_.method, ViewOf(body)));
  const auto exchange = std::make_shared<Exchange>();
  Register(exchange);
  shared_->background.Run([self = weak_from_this(), shared = shared_.get(), loop = &loop_, exchange, body,
                           route = std::move(route), method = head_.method,
                           held = std::make_shared<ByteReservation>(std::move(reservation_))] {
    auto reply = std::make_shared<HttpReply>(HandleControl(shared->context, route, method, ViewOf(body)));
    loop->Post([self, exchange, reply] {
      if (auto connection = self.lock()) connection->ReplyLater(*exchange, std::move(*reply));
    });
  });
}

}  // namespace tern::server
