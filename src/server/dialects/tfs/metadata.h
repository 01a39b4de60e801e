// The signatures of a model version, as TensorFlow Serving's metadata lists them.
#pragma once
#include <vector>

#include "server/core/model_version.h"

namespace tern::server::tfs {

// Returns the signatures of the model file. A model without signatures has `serving_default`, with the inputs
// and outputs of its configuration.
std::vector<Signature> DescribeSignatures(const ModelVersion& version);

}  // namespace tern::server::tfs
