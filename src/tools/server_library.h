// libtern_server.so, which serves models and makes load. Commands that do not need it do not load it.
#pragma once
#include "server/main/entry.h"

namespace tern::tools {

Result<const server::ServerLibrary*> OpenServerLibrary();

}  // namespace tern::tools
