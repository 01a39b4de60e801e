// Parts of the infer request's parser: one tensor or output each.
#pragma once
#include "server/http/infer_request.h"

namespace tern::server {

// What the parameters of an input or output say.
struct TensorParameters {
  std::optional<uint64_t> binary_size, classification;
  std::optional<bool> binary;
  std::optional<std::string> region;
  uint64_t offset = 0, bytes = 0;
};

// One element of "inputs".
struct InputFields {
  WireTensor tensor;
  bool has_name = false, has_shape = false, has_datatype = false;
  std::optional<size_t> data;  // where the value of "data" begins
  TensorParameters parameters;
};

Status ReadInputFields(JsonReader& json, InputFields& fields);
// Checks that the tensor has exactly one source, and reads it from there. `binary`: the rest of the body; the
// part that the input takes is removed from it.
Status ReadInputData(JsonReader& json, const InferSource& source, InputFields& fields, Buffer& binary);
Status ReadOutput(JsonReader& json, const InferSource& source, Request& request, InferFormat& format);
// The dims of an input that a raw binary request gives.
Status ReadRawInput(const Buffer& body, const InferSource& source, Request& request);

}  // namespace tern::server
