// Finds everything in a model that has no converter, before anything else happens.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Ok, or one error that lists every operator without a converter, how often it occurs, and node names.
Status ListUnsupported(const ModelContext& context);

}  // namespace tern::onnx
