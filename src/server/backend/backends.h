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
  // Thread-safe. The result stays usable after the source is gone.
  virtual Result<std::shared_ptr<Backend>> Find(const std::string& name) = 0;
};

// True for the names of engines whose models the built-in engine runs: "", "tern", "onnxruntime",
// "tensorflow", "pytorch", "openvino". No plug-in replaces these.
bool IsBuiltIn(const std::string& backend);

// The built-in engine, and plug-ins libtern_backend_NAME.so in `folder`; empty: beside the program, then
// beside this library. A plug-in is opened when the first model needs it, and stays open.
std::unique_ptr<BackendSource> FindBackends(std::string folder);

}  // namespace tern::server
