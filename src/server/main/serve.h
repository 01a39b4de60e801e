// Runs a server until a signal ends it.
#pragma once
#include "server/main/options.h"

namespace tern::server {

// Returns the exit code: 0 after SIGTERM or SIGINT when every accepted request was answered, 1 if some were
// not within the exit time-out. Fails if the server cannot start.
Result<int> Serve(ServeOptions options, const ServeCommand& command);

}  // namespace tern::server
