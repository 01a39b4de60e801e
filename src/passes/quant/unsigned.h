// Changes quantized activations from i8 to u8.
#pragma once
#include "passes/context.h"

namespace tern {

// Integer kernels multiply u8 by i8, and copy activations of type i8 to add 128. The pass adds 128 to the
// activations and their zero points instead. It changes a value if all nodes that make or read it allow this:
// Quantize, Dequantize, quantized ops and ops that only move elements, with constant or absent zero points.
// Inputs and outputs of the graph keep their types. Returns the number of changed values.
Result<int> UnsignedActivations(Graph& graph, PassContext& context);

}  // namespace tern
