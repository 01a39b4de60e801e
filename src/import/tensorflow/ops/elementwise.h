// Helpers of converters for elementwise operators.
#pragma once
#include <functional>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {

// Applies a function to input 0, in the layout that the input has.
Status MapInput(TfNode& n, const std::function<Value*(Value*)>& function);
// Applies a function to two tensors that broadcast against each other. If an input is the result of a
// convolution, computes in the layout of this input, so that no Transpose is needed.
Status MapInputs(TfNode& n, const std::function<Value*(Value*, Value*)>& function);
// Like MapInputs, for three tensors.
Status MapInputs3(TfNode& n, const std::function<Value*(Value*, Value*, Value*)>& function);

}  // namespace tern::tensorflow
