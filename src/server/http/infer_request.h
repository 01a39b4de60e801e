// The body of an infer request: JSON, then binary tensors (binary data extension).
#pragma once
#include <optional>
#include <vector>

#include "server/core/control.h"
#include "server/http/json_reader.h"

namespace tern::server {

// How an output goes back to the client.
struct OutputFormat {
  bool binary = false;
  std::string region;  // of shared memory; empty: the output is in the response
  uint64_t offset = 0, bytes = 0;
};

struct InferFormat {
  bool default_binary = false;        // for outputs that the request does not list
  std::vector<OutputFormat> outputs;  // one per Request::outputs
  uint64_t converted = 0;             // bytes of inputs that were made from JSON, besides the body
};

// What the parser needs to know of the server.
struct InferSource {
  const ModelConfig* config = nullptr;
  const Limits* limits = nullptr;
  SharedMemoryControl* shared_memory = nullptr;  // null: off
};

// header_length: the value of Inference-Header-Content-Length. Without it the body is JSON; with 0 it is the
// data of the model's only input. Inputs share the memory of `body`.
Status ParseInferRequest(const Buffer& body, std::optional<uint64_t> header_length, const InferSource& source,
                         Request& request, InferFormat& format);

// A value of "parameters": bool, integer, float or string.
Status ReadParameter(JsonReader& json, std::string_view name, ParameterValue& value);

}  // namespace tern::server
