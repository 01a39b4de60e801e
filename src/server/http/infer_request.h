// Parses the body of an infer request, which is JSON followed by binary tensors (binary data extension).
#pragma once
#include <optional>
#include <vector>

#include "server/core/shared_tensors.h"
#include "server/http/json_reader.h"

namespace tern::server {

// How an output is returned to the client.
struct OutputFormat {
  bool binary = false;
  bool shared = false;  // the output is in shared memory, and not in the response
};

struct InferFormat {
  bool default_binary = false;        // the format of outputs that the request does not list
  std::vector<OutputFormat> outputs;  // one per Request::outputs
  SharedTensors shared;               // inputs and outputs in shared memory
  // Bytes of inputs besides the body: those that were made from JSON, and those in shared memory.
  uint64_t converted = 0;
};

// What the parser needs to know about the server.
struct InferSource {
  const ModelConfig* config = nullptr;
  const Limits* limits = nullptr;
  SharedMemoryControl* shared_memory = nullptr;  // null: off
};

// header_length is the value of the header Inference-Header-Content-Length. Without the header, the body is
// JSON. If the value is 0, the body is the data of the model's only input. Binary inputs share the memory of
// `body`.
Status ParseInferRequest(const Buffer& body, std::optional<uint64_t> header_length, const InferSource& source,
                         Request& request, InferFormat& format);

// Makes a readable request of a body that is a picture, a sound or a text for the pipeline's only input.
// Returns the bytes of the input, which is a copy.
size_t ReadItem(const Buffer& body, const ModelConfig& config, Request& request);

// Reads a value of "parameters", which is a bool, an integer, a float or a string.
Status ReadParameter(JsonReader& json, std::string_view name, ParameterValue& value);

}  // namespace tern::server
