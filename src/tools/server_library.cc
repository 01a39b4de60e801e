#include "tools/server_library.h"

#include <dlfcn.h>

#include "load/library.h"

namespace tern::tools {

Result<const server::ServerLibrary*> OpenServerLibrary() {
  constexpr const char* kFile = "libtern_server.so";
  TERN_ASSIGN(void* library, load::OpenBeside(kFile, "serves models"));
  const auto entry = reinterpret_cast<server::ServerEntry>(dlsym(library, server::kServerEntry));
  const server::ServerLibrary* server = entry ? entry() : nullptr;
  if (!server || std::string_view(server->version) != TERN_VERSION)
    return Unsupported(kFile, " belongs to another version of Tern than " TERN_VERSION);
  if (std::string_view(server->build) != TERN_BUILD)
    return Unsupported(kFile, " belongs to another build of Tern " TERN_VERSION " (interface ", server->build,
                       ") than this command (interface " TERN_BUILD "): install both from the same build");
  return server;
}

}  // namespace tern::tools
