// Finds operators without a converter before the import starts.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Returns ok, or one error that lists every operator without a converter, its number of uses and node names.
Status ListUnsupported(const ModelContext& context);

}  // namespace tern::onnx
