#include "server/core/shared_tensors.h"

#include "server/core/buffer_pool.h"

namespace tern::server {

uint64_t SharedTensors::input_bytes() const {
  uint64_t sum = 0;
  for (const Input& input : inputs) sum += input.range->size();
  return sum;
}

Status SharedTensors::ReadInputs(Request& request) const {
  for (const Input& input : inputs) {
    WireTensor& tensor = request.inputs[input.index];
    tensor.bytes = BufferPool::Shared().Allocate(input.range->size());
    if (!tensor.bytes.defined())
      return ResourceExhausted("no memory for input '", tensor.name, "' of ", input.range->size(), " bytes");
    TERN_TRY(input.range->Read(tensor.bytes.data()));
  }
  return {};
}

Status SharedTensors::WriteOutput(const Output& output, WireTensor& tensor) const {
  const uint64_t bytes = tensor.bytes.size();
  if (bytes > output.range->size())
    return InvalidArgument("shared memory size specified with the request for output '", output.name, "' (",
                           output.range->size(), " bytes) should be at least ", bytes,
                           " bytes to hold the results");
  if (bytes) TERN_TRY(output.range->Write(tensor.bytes.data(), bytes));
  tensor.bytes = Buffer();
  return {};
}

void SharedTensors::WriteOutputs(Response& response) const {
  Status status;
  for (const Output& output : outputs)
    for (WireTensor& tensor : response.outputs)
      if (status.ok() && tensor.name == output.name) status = WriteOutput(output, tensor);
  if (status.ok()) return;
  response.outputs.clear();
  response.status = std::move(status);
  response.final = true;
}

}  // namespace tern::server
