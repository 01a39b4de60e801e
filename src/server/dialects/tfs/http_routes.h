// The routes of TensorFlow Serving that report the state and the signatures of models.
#pragma once
#include "server/core/control.h"
#include "server/http/reply.h"
#include "server/http/route.h"

namespace tern::server::tfs {

// `route.kind` is kTfsStatus or kTfsMetadata. The state of a model also has the keys with which OpenAI's API
// describes a model, because both use the same path.
HttpReply HandleRoute(ServerContext& context, const Route& route);

}  // namespace tern::server::tfs
