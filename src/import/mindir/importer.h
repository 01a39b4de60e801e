// Imports MindIR models.
#pragma once
#include <memory>
#include <string>

#include "import/mindir/graph_importer.h"

namespace tern::mindir {

// Imports a model. `path` is the model's file, or empty for a model in memory. If `path` is not empty,
// `bytes` is the mapped file, and weights refer to it if their alignment permits.
Result<std::unique_ptr<Graph>> ImportBytes(const Buffer& bytes, const std::string& path);

// Fails if the model uses primitives that have no converter. The error lists all of them.
Status ListUnsupported(const ModelContext& context);

}  // namespace tern::mindir
