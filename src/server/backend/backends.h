// Finds the engine that a model's configuration names.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/core/backend.h"

namespace tern::server {

class BackendSource {
 public:
  virtual ~BackendSource() = default;
  // Thread-safe. The result stays usable after the source is destroyed.
  virtual Result<std::shared_ptr<Backend>> Find(const std::string& name) = 0;
};

// Returns whether the built-in engine runs the models of this back end: "", "tern", "onnxruntime",
// "tensorflow", "pytorch" and "openvino". A plug-in with one of these names is never opened.
bool IsBuiltIn(const std::string& backend);

// Returns the path of a plug-in's library, or an empty text if there is none.
std::string PlugInFile(const std::string& folder, const std::string& name);

// Finds the built-in engine, and plug-ins libtern_backend_NAME.so in `folder`. If `folder` is empty, plug-ins
// are searched beside the program, then beside this library. A plug-in is opened when the first model needs
// it, and stays open.
std::unique_ptr<BackendSource> FindBackends(std::string folder);

}  // namespace tern::server
