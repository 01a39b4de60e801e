// Imports MindIR models.
#pragma once
#include <memory>
#include <string>

#include "import/mindir/graph_importer.h"

namespace tern::mindir {

// Imports a model. `path` is the model's file, or empty for a model in memory.
Result<std::unique_ptr<Graph>> ImportBytes(const void* data, size_t size, const std::string& path);

// Fails if the model uses primitives that have no converter. The error lists all of them.
Status ListUnsupported(const ModelContext& context);

}  // namespace tern::mindir
