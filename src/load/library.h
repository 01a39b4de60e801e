// Opens the shared libraries that belong to this build of Tern.
#pragma once
#include <string>

#include "base/status.h"

namespace tern::load {

// Opens a library in the folder of libtern. If it is not there, searches the library path. Returns the handle
// of dlopen. `purpose` is a part of error messages, such as "reads ONNX models".
Result<void*> OpenBeside(const std::string& file, const std::string& purpose);

}  // namespace tern::load
