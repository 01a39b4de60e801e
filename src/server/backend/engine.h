// The built-in engine behind the same interface as plug-ins.
#pragma once
#include "tern/backend.h"

namespace tern::server {

// Reads every format of load::Formats. Parameters: tern_threads, tern_precision; see model_config.proto.
const TernBackend* EngineBackend();

}  // namespace tern::server
