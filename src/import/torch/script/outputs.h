// The outputs of a TorchScript model: what its method forward returns.
#pragma once
#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

// Makes the tensors and numbers of the result the outputs of the graph. Entries of a dict and fields of a
// named tuple give their names to outputs; other outputs are output_0, output_1, … None is left out.
Status SetOutputs(Interpreter& in, const Item& result);

}  // namespace tern::torch::script
