// The interface between the command `tern` and libtern_server.so.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "load/importer.h"  // TERN_BUILD
#include "server/access/new_token.h"
#include "server/load/load.h"
#include "server/load/record.h"

namespace tern::server {

struct BuiltinFile {
  std::string name, bytes;
};

struct ServeCommand {
  // Pairs of a name and a value. Names have no leading dashes.
  std::vector<std::pair<std::string, std::string>> flags;
  std::vector<BuiltinFile> builtin;  // the first is a model, which is served if the flags name no model
  std::string builtin_name;
  std::string builtin_example;  // the name of the built-in file that contains a request to the model
  std::string builtin_picture;  // the name of the built-in file that is a picture for the model's pipeline
};

// C++ types cross this interface, so both sides must belong to the same build of Tern. The command compares
// `version` and `build` before it uses anything else. The number in the name of the entry point is increased
// when this struct changes.
struct ServerLibrary {
  const char* version = nullptr;
  const char* build = nullptr;  // TERN_BUILD
  Result<int> (*serve)(const ServeCommand& command) = nullptr;
  Result<LoadReport> (*load)(const LoadCommand& command) = nullptr;
  // Returns the body of GET http://host:port/path. Fails if the status is not 200. An empty token is not
  // sent.
  Result<std::string> (*get)(const std::string& url, const std::string& path,
                             const std::string& token) = nullptr;
  // Returns the body of the answer to a POST of JSON, or to a GET if `body` is empty. The port is 8000 if the
  // URL has none. Fails if the status is not 200, with the server's error message.
  Result<std::string> (*call)(const std::string& url, const std::string& path, const std::string& body,
                              const std::string& token) = nullptr;
  Result<std::string> (*add_token)(const TokenCommand& command) = nullptr;
  Result<std::vector<RecordedPair>> (*record)(const RecordCommand& command) = nullptr;
};
using ServerEntry = const ServerLibrary* (*)();
inline constexpr const char* kServerEntry = "tern_server_3";

}  // namespace tern::server

extern "C" const tern::server::ServerLibrary* tern_server_3();
