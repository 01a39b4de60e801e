// Sends requests to a running model and returns them with their answers, for use as golden requests.
#pragma once
#include "server/load/load.h"

namespace tern::server {

struct RecordCommand {
  LoadCommand target;                 // the server, the model, and the inputs of made-up requests
  std::vector<std::string> requests;  // v2 requests in JSON; empty: `count` requests are made up
  int count = 1;
};

// A v2 request and its response, both in JSON.
struct RecordedPair {
  std::string request, response;
};

// Fails if the server answers a request with an error.
Result<std::vector<RecordedPair>> RecordRequests(const RecordCommand& command);

}  // namespace tern::server
