// Handlers of the rpcs of TensorFlow Serving that execute no model. Each gets a serialized request and
// returns a serialized response.
#pragma once
#include <string>
#include <string_view>

#include "server/core/control.h"

namespace tern::server::tfs {

Result<std::string> HandleGetModelMetadata(ServerContext& context, std::string_view request);
Result<std::string> HandleGetModelStatus(ServerContext& context, std::string_view request);
// Fails with kUnsupported, because the model repository decides what is loaded.
Result<std::string> HandleReloadConfig(ServerContext& context, std::string_view request);

}  // namespace tern::server::tfs
