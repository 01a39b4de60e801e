// Which model version and signature a request of TensorFlow Serving addresses.
#pragma once
#include <memory>
#include <string>

#include "server/core/registry.h"

namespace tern::server::tfs {

inline constexpr const char* kDefaultSignature = "serving_default";
inline constexpr const char* kPredictMethod = "tensorflow/serving/predict";
inline constexpr const char* kClassifyMethod = "tensorflow/serving/classify";
inline constexpr const char* kRegressMethod = "tensorflow/serving/regress";

struct ModelSpec {
  std::string model, version, label;  // at most one of version and label is set
  std::string signature;              // empty: the default
};

// Finds the version. A spec without version and label gets the version that Registry::Find returns without a
// version. Fails with kNotFound ("Servable not found for request: Latest(m)"), with kInvalidArgument for an
// unknown label, and with kUnavailable if the label's version is not ready.
Result<std::shared_ptr<ModelVersion>> FindVersion(const Registry& models, const ModelSpec& spec);

// A signature of a version. `owner` must outlive it.
struct ChosenSignature {
  std::string name;                     // as responses state it
  std::string key;                      // the value of Request::signature
  const ModelConfig* config = nullptr;  // the inputs and outputs
  std::string method;                   // empty if the model file states none
};

// An empty `name` means serving_default. If a model has only one signature, serving_default is another name
// of that signature. If a model has several signatures or none, and none of them is called serving_default,
// then serving_default has the inputs and outputs of the model's configuration. Fails with kInvalidArgument
// for an unknown signature, and if the signature could not be loaded.
Result<ChosenSignature> ChooseSignature(const ModelVersion& owner, const std::string& name);

}  // namespace tern::server::tfs
