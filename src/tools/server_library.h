// Opens libtern_server.so, which contains the server and the load generator. Only commands that need this
// library load it.
#pragma once
#include "server/main/entry.h"

namespace tern::tools {

Result<const server::ServerLibrary*> OpenServerLibrary();

}  // namespace tern::tools
