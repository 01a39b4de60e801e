// Complex tensors: float tensors whose last dim has the real and the imaginary part.
#pragma once
#include "import/torch/aten/views.h"

namespace tern::torch {

// Returns whether the results of the call are complex. Prepares the arguments of an operator that only moves
// elements, so that it works on the pairs of parts. Fails if an argument is complex and the operator cannot
// take it.
Result<bool> PrepareComplex(TorchContext& context, BoundCall& call);

}  // namespace tern::torch
