// Opens the shared libraries that belong to this build of Tern.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::load {

// Opens a library in the folder of libtern, else on the library path, and never closes it. purpose: for
// messages, such as "reads ONNX models". Returns the handle of dlopen.
Result<void*> OpenBeside(const std::string& file, const std::string& purpose);

}  // namespace tern::load
