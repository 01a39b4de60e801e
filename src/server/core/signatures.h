// The entry points of a model version that has several, such as a SavedModel of TensorFlow.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/tensor.h"

namespace tern::server {

class ModelVersion;

// The parameter of a model's configuration that selects one signature of the file. Without it, all signatures
// are loaded.
inline constexpr const char* kSignatureParameter = "tern_signature";

// An input or output as the model file declares it.
struct SignatureTensor {
  std::string name;    // the key in the signature
  std::string tensor;  // the tensor in the file's graph, "node:0"
  int type = 0;        // a number of TensorFlow's DataType
  bool ranked = true;
  Dims dims;  // with the batch dim; -1: any size
};

struct Signature {
  std::string name;
  std::string method;  // "tensorflow/serving/predict"
  std::vector<SignatureTensor> inputs, outputs;
  std::shared_ptr<ModelVersion> model;  // executes this signature; null if it could not be loaded
  Status status;                        // why `model` is null
};

}  // namespace tern::server
