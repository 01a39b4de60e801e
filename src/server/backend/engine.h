// The built-in engine. It implements the same interface as plug-ins.
#pragma once
#include "tern/backend.h"

namespace tern::server {

// The engine reads every format of load::Formats. It reads the configuration's parameters tern_threads and
// tern_precision, which model_config.proto describes, and kSignatureParameter.
const TernBackend* EngineBackend();

}  // namespace tern::server
