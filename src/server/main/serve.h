// Runs a server until a signal ends it.
#pragma once
#include "server/main/options.h"

namespace tern::server {

// Returns the exit code after SIGTERM or SIGINT. It is 0 if the server stopped within options.exit_timeout
// (plus 0.5 s), else 1. A second signal ends the process with code 1. Fails if the server cannot be started.
Result<int> Serve(ServeOptions options, const ServeCommand& command);

}  // namespace tern::server
