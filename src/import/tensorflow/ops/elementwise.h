// Helpers of converters for elementwise operators.
#pragma once
#include <functional>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {

// Applies a function to input 0, in the layout that the input has.
Status MapInput(TfNode& n, const std::function<Value*(Value*)>& function);
// Applies a function to two tensors that broadcast against each other, in the layout of the inputs that
// convolutions made, so that no transpose is needed.
Status MapInputs(TfNode& n, const std::function<Value*(Value*, Value*)>& function);
// Also for three tensors.
Status MapInputs3(TfNode& n, const std::function<Value*(Value*, Value*, Value*)>& function);

}  // namespace tern::tensorflow
