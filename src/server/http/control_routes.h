// Answers all requests but inferences. Each function answers one request. No function throws.
#pragma once
#include "server/core/control.h"
#include "server/http/reply.h"
#include "server/http/route.h"

namespace tern::server {

// Where a route is answered.
enum class RouteThread {
  kLoop,        // it returns at once
  kWork,        // it may take long
  kFiles,       // it may wait for the file system
  kRepository,  // it may wait for a model that is loaded or unloaded
};
RouteThread ThreadOf(RouteKind kind);
HttpReply HandleControl(ServerContext& context, const Route& route, Method method, std::string_view body);

// Who sends a request, for the audit log.
struct HttpActor {
  std::string user, address, target;
};
// Like HandleControl, but writes lines to the audit log.
HttpReply HandleAudited(ServerContext& context, const Route& route, Method method, std::string_view body,
                        const HttpActor& actor);

// HandleControl calls one of these functions.
HttpReply HandleServerRoute(ServerContext& context, const Route& route);
HttpReply HandleModelRoute(ServerContext& context, const Route& route);
HttpReply HandleRepositoryRoute(ServerContext& context, const Route& route, std::string_view body);
HttpReply HandleRolloutRoute(ServerContext& context, const Route& route, Method method,
                             std::string_view body);
HttpReply HandleMemoryRoute(ServerContext& context, const Route& route, std::string_view body);
HttpReply HandleSettingsRoute(ServerContext& context, const Route& route, Method method,
                              std::string_view body);

}  // namespace tern::server
