// Handles complex tensors, which are float tensors whose last dim contains the real and the imaginary part.
#pragma once
#include "import/torch/aten/views.h"

namespace tern::torch {

// If a tensor argument is complex and the operator only moves elements, changes the arguments so that the
// operator moves pairs of parts, and returns true. The caller must then mark the results as complex. Returns
// false for other supported calls. Fails if an argument is complex and the operator does not support that.
Result<bool> PrepareComplex(TorchContext& context, BoundCall& call);

}  // namespace tern::torch
