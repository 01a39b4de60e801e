// The error of a request to a version that is being removed.
#pragma once
#include "server/core/model_version.h"

namespace tern::server {

inline Status NotReady(const ModelVersion& model) {
  return Unavailable("Request for unknown model: '", model.config().name, "' version ", model.version(),
                     " is not at ready state");
}

}  // namespace tern::server
