// What a person reads when the server has started, and what a program reads from the ready file.
#pragma once
#include <string>

#include "server/main/running_server.h"

namespace tern::server {

// example: the path of a file with a request to the first model; empty: none.
std::string StartLines(const ServeOptions& options, RunningServer& server, const std::string& example);
// {"pid":…,"http":8000,"grpc":8001,"metrics":8002}
std::string ReadyText(const RunningServer& server);

// "image FP32[-1,1,28,28] -> probabilities FP32[-1,10]"
std::string DescribeModel(const ModelConfig& config);

}  // namespace tern::server
