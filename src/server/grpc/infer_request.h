// Parses a serialized ModelInferRequest. Tensors refer to the message, so their bytes are not copied.
#pragma once
#include <string_view>

#include "server/core/shared_tensors.h"

namespace tern::server {

struct InferParseOptions {
  SharedMemoryControl* shared_memory = nullptr;  // null: off
  // Limit on the number of inputs, and on the number of outputs.
  size_t tensors = 1024;
  uint64_t bytes = INT32_MAX;  // limit on one tensor that is converted from typed contents
};

struct InferMessage {
  std::string_view model, version;  // these refer to the message
  Request request;
  SharedTensors shared;  // inputs and outputs in shared memory
  // Bytes of inputs besides the message: those made from typed contents, and those in shared memory.
  uint64_t converted = 0;
};

// Fails with kInvalidArgument if the bytes are not a valid ModelInferRequest, with kNotFound or
// kInvalidArgument if a shared memory region does not exist or is too small, and with kUnsupported if shared
// memory is off.
Status ParseInferRequest(const Buffer& message, const InferParseOptions& options, InferMessage& out);

// The texts of the first fields of a ModelInferRequest. They refer to the message.
struct RequestNames {
  std::string_view model, version, id;
};
// Reads the names without the rest of the message. Returns no names if they are not its first fields.
RequestNames PeekNames(const Buffer& message);

// Returns whether parsing takes long, because much of the message is outside raw_input_contents. Reads at
// most 4096 fields.
bool TakesLongToParse(const Buffer& message);

}  // namespace tern::server
