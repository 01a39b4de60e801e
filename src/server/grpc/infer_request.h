// Parses a serialized ModelInferRequest. Tensors are slices of the message: their bytes are not copied.
#pragma once
#include <string_view>

#include "server/core/control.h"

namespace tern::server {

struct InferParseOptions {
  SharedMemoryControl* shared_memory = nullptr;  // null: off
  size_t tensors = 1024;                         // limit on inputs, and on outputs
  uint64_t bytes = INT32_MAX;                    // limit on one tensor that is converted from typed contents
};

struct InferMessage {
  std::string_view model, version;  // refer to the message
  Request request;
  uint64_t converted = 0;  // bytes of tensors that were made from typed contents, besides the message
};

// Fills `out`. Fails with kInvalidArgument for what is no such message, with kNotFound or kInvalidArgument
// for shared memory that does not exist, and with kUnsupported if shared memory is off.
Status ParseInferRequest(const Buffer& message, const InferParseOptions& options, InferMessage& out);

}  // namespace tern::server
