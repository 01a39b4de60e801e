// Lists the operators of a TorchScript file that Tern does not support.
#pragma once
#include <map>
#include <string>

#include "import/torch/script/code.h"

namespace tern::torch::script {

// Returns an error with all unsupported operators of the functions in `called` and of the functions and
// methods that these call. `op` is one of them, at `place`.
Status ListUnsupported(Code& code, const std::map<const Function*, std::string>& called,
                       const std::string& op, const std::string& place);

}  // namespace tern::torch::script
