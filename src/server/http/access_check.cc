// The part of HttpConnection that decides whether a request is permitted, before its body is read.
#include "server/access/access.h"
#include "server/http/connection.h"

namespace tern::server {
namespace {

bool IsInference(RouteKind kind) { return GroupOf(kind) == ApiGroup::kInference; }

HttpReply RefusalReply(const Refusal& refusal, bool presented) {
  if (refusal.kind == Refusal::Kind::kDenied) return ErrorReply(403, refusal.message);
  if (refusal.kind == Refusal::Kind::kExhausted)
    return ErrorReply(ResourceExhausted(refusal.message), refusal.retry_after);
  HttpReply reply = ErrorReply(401, refusal.message);
  reply.authenticate = presented ? "Bearer realm=\"tern\", error=\"invalid_token\"" : "Bearer realm=\"tern\"";
  return reply;
}

}  // namespace

Right RightOf(const Route& route, Method method) {
  // Only clients with an identity may learn whether a path exists.
  if (route.kind == RouteKind::kNotFound || route.kind == RouteKind::kBadTarget) return Right::kAny;
  return RightOf(GroupOf(route.kind), Changes(route.kind, method), !route.model.empty());
}

const std::string& HttpConnection::peer() {
  if (peer_.empty()) peer_ = stream_->Peer();
  return peer_;
}

// Checks each request separately. Nothing is kept from earlier requests of the connection, except the
// client's certificate.
std::optional<HttpReply> HttpConnection::CheckAccess(const Route& route) {
  visitor_ = Visitor();
  permit_.Release();
  AccessControl* access = shared_->context.access;
  if (!access) return {};
  if (!identified_) {
    certificate_ = stream_->Certificate();
    address_ = AddressKey(peer());
    identified_ = true;
  }
  const Credentials credentials{head_.authorizations, head_.authorization, certificate_.get(), address_};
  const bool presented = credentials.fields > 0 || certificate_;
  Refusal refusal = access->Enter(credentials, {GroupOf(route.kind), RightOf(route, head_.method)}, visitor_);
  if (!refusal.refused() && visitor_.identity) refusal = CheckModels(*access, route);
  if (!refusal.refused() && IsInference(route.kind))
    refusal = access->Admit(visitor_, head_.content_length.value_or(0), permit_);
  if (!refusal.refused()) return {};
  return RefusalReply(refusal, presented);
}

Refusal HttpConnection::CheckModels(AccessControl& access, const Route& route) {
  if (!route.model.empty()) return access.CheckModel(visitor_, route.model);
  return ConcernsAllModels(route.kind) ? access.CheckAllModels(visitor_) : Refusal();
}

// Counts bytes of a body whose length was not known. Returns the reply if they exceed the tenant's quota.
std::optional<HttpReply> HttpConnection::OverQuota(size_t bytes) {
  if (!permit_.held()) return {};
  const Refusal refusal = shared_->context.access->Grow(visitor_, bytes, permit_);
  if (!refusal.refused()) return {};
  return RefusalReply(refusal, true);
}

// Returns the reply to a request that access control refuses, or that lacks the header of a restricted
// operation.
std::optional<HttpReply> HttpConnection::Forbidden(const Route& route) {
  if (IsPreflight()) return {};
  auto refused = CheckAccess(route);
  user_ = visitor_.name();
  if (refused) return refused;
  const auto* secret = shared_->options.restrictions.Missing(GroupOf(route.kind), fields_);
  if (!secret) return {};
  permit_.Release();
  return ErrorReply(403, StrCat("This API is restricted, expecting header '", secret->header, "'"));
}

}  // namespace tern::server
