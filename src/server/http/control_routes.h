// Everything but inference. Each function answers one request; none of them throws.
#pragma once
#include "server/core/control.h"
#include "server/http/reply.h"
#include "server/http/route.h"

namespace tern::server {

// True if the route waits for the repository, so that it must not run on an event loop.
bool MayWait(RouteKind kind);
HttpReply HandleControl(ServerContext& context, const Route& route, Method method, std::string_view body);

// The parts of HandleControl.
HttpReply HandleServerRoute(ServerContext& context, const Route& route);
HttpReply HandleModelRoute(ServerContext& context, const Route& route);
HttpReply HandleRepositoryRoute(ServerContext& context, const Route& route, std::string_view body);
HttpReply HandleMemoryRoute(ServerContext& context, const Route& route, std::string_view body);
HttpReply HandleSettingsRoute(ServerContext& context, const Route& route, Method method,
                              std::string_view body);

}  // namespace tern::server
