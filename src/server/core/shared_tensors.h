// Copies tensors from and to the shared memory of clients.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/core/control.h"

namespace tern::server {

// The tensors of one request that are in shared memory.
struct SharedTensors {
  struct Input {
    size_t index = 0;  // in Request::inputs
    std::shared_ptr<const SharedMemoryRange> range;
  };
  struct Output {
    std::string name;
    std::shared_ptr<const SharedMemoryRange> range;
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;

  uint64_t input_bytes() const;
  // Copies the inputs to the request's tensors.
  Status ReadInputs(Request& request) const;
  // Copies outputs to the shared memory, and removes their bytes from the response. If that fails, the
  // response becomes the error.
  void WriteOutputs(Response& response) const;

 private:
  Status WriteOutput(const Output& output, WireTensor& tensor) const;
};

}  // namespace tern::server
