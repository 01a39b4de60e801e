// The outputs of a TorchScript model are the results of its method forward.
#pragma once
#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

// Sets the outputs of the graph, which are the tensors and numbers of the result. An entry of a dict or a
// field of a named tuple gives its name to its output. Other outputs are output_0, output_1, … A result None
// is omitted.
Status SetOutputs(Interpreter& in, const Item& result);

}  // namespace tern::torch::script
