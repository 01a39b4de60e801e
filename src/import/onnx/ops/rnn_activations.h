// Converts the activations of recurrent operators.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// Adds the operator's activations and their parameters to `attrs`, which are attributes of the op Rnn. Adds
// nothing if the operator has the default activations.
Status AddActivations(const OnnxNode& n, AttrList& attrs);

}  // namespace tern::onnx
