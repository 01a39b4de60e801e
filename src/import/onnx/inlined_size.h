// How many nodes a model has with its functions inlined, found without inlining them.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// An error when there are more than kMaxNodes: forty functions that call each other twice make a million
// million, which must be refused before the first is built.
Status CheckInlinedSize(const ModelContext& context);

}  // namespace tern::onnx
