// Reads the parameters of requests, inputs and outputs, which are a map<string, InferParameter>.
#pragma once
#include <string_view>

#include "server/core/control.h"

namespace tern::server {

// Each of these functions reads one serialized entry of the map.
Status ReadRequestParameter(std::string_view entry, Request& request);

// The position of a tensor in shared memory.
struct SharedMemoryUse {
  std::string_view region;  // empty if the tensor is not in shared memory
  uint64_t bytes = 0, offset = 0;
  bool has_bytes = false;
};
Status ReadInputParameter(std::string_view entry, SharedMemoryUse& use);
Status ReadOutputParameter(std::string_view entry, SharedMemoryUse& use, int& classification);

}  // namespace tern::server
