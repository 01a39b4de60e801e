// The inference request that a load generator sends again and again.
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

// Given tensors and random ones. Fails for inputs that the model does not have and for wrong types and sizes.
Result<std::vector<InputTensor>> MakeInputs(const ModelFacts& facts, const LoadCommand& command);

// The binary form of the v2 protocol: row-major; strings with their lengths.
std::string WireBytes(const Tensor& tensor);

// Inputs in system shared memory that the server reads. Unregisters and removes it at the end.
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

// shared: null if tensors are sent with the request.
RequestBytes InferRequest(const Url& url, const LoadCommand& command, const std::vector<InputTensor>& inputs,
                          const SharedInputs* shared);

}  // namespace tern::server::loadgen
