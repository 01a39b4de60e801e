// Converts between the shapes that clients of TensorFlow Serving use and those of the server's
// configurations.
#pragma once
#include "server/core/message.h"
#include "server/core/model_config.h"

namespace tern::server::tfs {

// What FitInputs changed.
struct ShapeFit {
  bool added_one = false;  // an input had no last dim, although the model's last dim is 1
};

// Changes the dims of inputs to those of the configuration where only the form differs. A scalar becomes a
// tensor with one element, because the server has no scalars. If an input lacks its last dim, which is 1, the
// dim is added: TensorFlow accepts such inputs for models that compute each element independently.
void FitInputs(const ModelConfig& config, Request& request, ShapeFit& fit);
// Changes an output back to the form that TensorFlow gives it.
void FitOutput(const ModelConfig& config, const ShapeFit& fit, WireTensor& output);

// Returns the dims of a tensor of the configuration, with the batch dim (-1).
Dims FullDims(const ModelConfig& config, const TensorConfig& tensor);

}  // namespace tern::server::tfs
