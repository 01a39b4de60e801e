// The lines that the server prints after the start, and the content of the ready file.
#pragma once
#include <string>

#include "server/main/running_server.h"

namespace tern::server {

// Paths of files that a client can send to the built-in model. Empty: none.
struct Examples {
  std::string request;  // JSON
  std::string picture;  // PNG
};

// Returns the lines. `examples` are files for the first model.
std::string StartLines(const ServeOptions& options, RunningServer& server, const Examples& examples);
// Returns {"pid":…,"http":8000,"grpc":8001,"metrics":8002}.
std::string ReadyText(const RunningServer& server);

// Returns a text such as "image FP32[-1,1,28,28] -> probabilities FP32[-1,10]".
std::string DescribeModel(const ModelConfig& config);

}  // namespace tern::server
