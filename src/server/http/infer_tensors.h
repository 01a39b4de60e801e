// Parts of the infer request's parser. Each function reads one input or one requested output.
#pragma once
#include "server/http/infer_request.h"

namespace tern::server {

// The parameters of an input or output.
struct TensorParameters {
  std::optional<uint64_t> binary_size, classification;
  std::optional<bool> binary;
  std::optional<std::string> region;
  uint64_t offset = 0, bytes = 0;
};

// One element of "inputs".
struct InputFields {
  WireTensor tensor;
  std::string unknown_datatype;  // its name, if the tensor has no type
  bool has_name = false, has_shape = false, has_datatype = false;
  std::optional<size_t> data;  // the position in the JSON text at which the value of "data" begins
  TensorParameters parameters;
  std::shared_ptr<const SharedMemoryRange> range;  // null if the data is not in shared memory
};

Status ReadInputFields(JsonReader& json, InputFields& fields);
// Checks that the tensor's data is in exactly one place (JSON, binary data or shared memory), and reads it
// from there. For shared memory, only sets `fields.range`. `binary` is the binary data that no input has used
// yet. Bytes that this input uses are removed from it.
Status ReadInputData(JsonReader& json, const InferSource& source, InputFields& fields, Buffer& binary);
Status ReadOutput(JsonReader& json, const InferSource& source, Request& request, InferFormat& format);
// Makes the only input of a raw binary request. The body is its data, and its dims follow from the
// configuration and the size of the body.
Status ReadRawInput(const Buffer& body, const InferSource& source, Request& request);

}  // namespace tern::server
