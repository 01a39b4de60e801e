// Parameters of requests, inputs and outputs: map<string, InferParameter>.
#pragma once
#include <string_view>

#include "server/core/control.h"

namespace tern::server {

// Each reads one serialized entry of the map.
Status ReadRequestParameter(std::string_view entry, Request& request);

// Where a tensor is in shared memory.
struct SharedMemoryUse {
  std::string_view region;  // empty: it is not
  uint64_t bytes = 0, offset = 0;
  bool has_bytes = false;
};
Status ReadInputParameter(std::string_view entry, SharedMemoryUse& use);
Status ReadOutputParameter(std::string_view entry, SharedMemoryUse& use, int& classification);

}  // namespace tern::server
