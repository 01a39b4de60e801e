// Runs a server until a signal ends it.
#pragma once
#include "server/main/options.h"

namespace tern::server {

// Returns the exit code after SIGTERM or SIGINT. It is 0 if every accepted request was answered, and 1 if
// some were not answered within options.exit_timeout. Fails if the server cannot start.
Result<int> Serve(ServeOptions options, const ServeCommand& command);

}  // namespace tern::server
