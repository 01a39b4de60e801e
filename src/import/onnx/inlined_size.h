// Counts the nodes that a model has after its functions are inlined, without inlining them.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Fails if the model has more than kMaxNodes nodes after inlining. The import calls this function before it
// builds any node. For example, if each of 40 functions calls the next function twice, the model would expand
// to 2^40 nodes.
Status CheckInlinedSize(const ModelContext& context);

}  // namespace tern::onnx
