// The interface between the command `tern` and libtern_server.so.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "load/importer.h"  // TERN_BUILD
#include "server/load/load.h"

namespace tern::server {

struct BuiltinFile {
  std::string name, bytes;
};

struct ServeCommand {
  std::vector<std::pair<std::string, std::string>> flags;  // names without dashes, values
  std::vector<BuiltinFile> builtin;  // served if no model is named: the first is the model
  std::string builtin_name;
  std::string builtin_example;  // the name of the built-in file that is a request to the model
};

// C++ types cross this interface, so both sides must belong to the same build of Tern. The command compares
// `version` and `build` before it uses anything else. The number in the entry point's name changes when this
// struct changes.
struct ServerLibrary {
  const char* version = nullptr;
  const char* build = nullptr;  // TERN_BUILD
  Result<int> (*serve)(const ServeCommand& command) = nullptr;
  Result<LoadReport> (*load)(const LoadCommand& command) = nullptr;
  // The body of GET http://host:port/path. Fails for an answer other than 200.
  Result<std::string> (*get)(const std::string& url, const std::string& path) = nullptr;
};
using ServerEntry = const ServerLibrary* (*)();
inline constexpr const char* kServerEntry = "tern_server_1";

}  // namespace tern::server

extern "C" const tern::server::ServerLibrary* tern_server_1();
