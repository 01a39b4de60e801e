// How a model is isolated: the settings of the server, and the parameters of the model's configuration.
#pragma once
#include <string>

#include "server/core/model_config.h"
#include "server/isolation/sandbox.h"

namespace tern::server {

struct IsolationDefaults {
  bool process = false;  // a model without the parameter `isolation` runs in its own process
  bool sandbox = false;  // every model runs in a sandboxed process, and no configuration can change that
  std::string program = "/proc/self/exe";  // `tern`
};

struct Isolation {
  bool process = false, sandbox = false;
  SandboxLimits limits;
};

// Reads the parameters isolation, sandbox, sandbox_memory_mb, sandbox_cpu_secs and sandbox_open_files. Fails
// if one is invalid or contradicts another or the settings.
Result<Isolation> IsolationOf(const ModelConfig& config, const IsolationDefaults& defaults);

}  // namespace tern::server
