// Counts the nodes that a model has after inlining, without inlining it.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Fails if the model has more than kMaxNodes nodes. Forty functions that each call the next one twice expand
// to 10^12 nodes; the import refuses such a model before it builds any node.
Status CheckInlinedSize(const ModelContext& context);

}  // namespace tern::onnx
