// torch.tensor(…) of numbers and nested lists.
#pragma once
#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

// `dtype` is the number of a ScalarType, or None. If it is None, the numbers determine the element type.
Result<Item> LiteralTensor(Interpreter& in, const Item& data, const Item& dtype);

}  // namespace tern::torch::script
