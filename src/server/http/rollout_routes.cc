// The route of labels and rollouts: v2/repository/models/NAME/rollout.
#include "server/http/control_routes.h"

namespace tern::server {

HttpReply HandleRolloutRoute(ServerContext& context, const Route& route, Method method,
                             std::string_view body) {
  if (!route.repository.empty())
    return ErrorReply(Unsupported("'repository_name' specification is not supported"));
  if (!context.rollouts) return ErrorReply(Unavailable("the server has no rollouts"));
  auto state = method == Method::kPost ? context.rollouts->Change(route.model, body)
                                       : context.rollouts->State(route.model);
  return state.ok() ? JsonReply(std::move(*state)) : ErrorReply(state.status());
}

}  // namespace tern::server
