// Operations that the audit log records.
#include "server/access/audit_log.h"
#include "server/http/control_routes.h"

namespace tern::server {

HttpReply HandleAudited(ServerContext& context, const Route& route, Method method, std::string_view body,
                        const HttpActor& actor) {
  AuditAction action{actor.user, actor.address, "http", actor.target, route.model, {}, body.size()};
  if (action.model.empty()) action.model = route.region;
  // The body of a load request may contain the files of a model.
  if (route.kind != RouteKind::kLoad) action.detail = body;
  uint64_t number = 0;
  const Status begun = context.audit->Begin(action, number);
  if (!begun.ok()) return ErrorReply(begun);
  HttpReply reply = HandleControl(context, route, method, body);
  context.audit->End(action, number, reply.status, reply.error);
  return reply;
}

}  // namespace tern::server
