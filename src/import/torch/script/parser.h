// Parses one file of TorchScript's code.
#pragma once
#include <string_view>

#include "base/status.h"
#include "import/torch/script/ast.h"

namespace tern::torch::script {

// `source` is untrusted. Errors name the line.
Result<Unit> Parse(std::string_view source);

}  // namespace tern::torch::script
