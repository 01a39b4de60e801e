// Makes the inference request that the load generator sends repeatedly.
#pragma once
#include <memory>

#include "server/load/model_facts.h"

namespace tern::server::loadgen {

struct InputTensor {
  std::string name, datatype;
  Dims dims;
  std::string bytes;  // in the protocol's binary form
  Tensor tensor;
};

// Returns all inputs of the model. Each input is the user's tensor if there is one, and random values if
// there is none. Fails if the user gives an input that the model does not have, or a wrong type or size.
Result<std::vector<InputTensor>> MakeInputs(const ModelFacts& facts, const LoadCommand& command);

// Returns the tensor in the binary form of the v2 protocol: row-major, with a length before each string.
std::string WireBytes(const Tensor& tensor);

// Writes the inputs to system shared memory and registers the memory with the server. The destructor
// unregisters and removes it.
class SharedInputs {
 public:
  static Result<std::unique_ptr<SharedInputs>> Create(const Url& url, const LoadCommand& command,
                                                      const std::vector<InputTensor>& inputs);
  ~SharedInputs();
  const std::string& region() const { return region_; }
  uint64_t offset(size_t input) const { return offsets_[input]; }

 private:
  SharedInputs(const Url& url, bool grpc) : url_(url), grpc_(grpc) {}
  Status Fill(const std::vector<InputTensor>& inputs);
  Status Register();
  const Url url_;
  const bool grpc_;
  std::string region_, key_;
  std::vector<uint64_t> offsets_;
  uint64_t bytes_ = 0;
  bool registered_ = false;
};

// `shared` is null if the request itself contains the tensors.
RequestBytes InferRequest(const Url& url, const LoadCommand& command, const std::vector<InputTensor>& inputs,
                          const SharedInputs* shared);

}  // namespace tern::server::loadgen
