// Finds operators without a converter before the import starts.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Fails if the model uses operators without a converter. The message lists all of them, how often each is
// used, and the names of up to five nodes.
Status ListUnsupported(const ModelContext& context);

}  // namespace tern::onnx
