// The number of nodes that a model has after inlining, computed without inlining.
#pragma once
#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// An error when there are more than kMaxNodes. Forty functions that each call the next one twice expand to
// 10^12 nodes; the import refuses such a model before it builds any node.
Status CheckInlinedSize(const ModelContext& context);

}  // namespace tern::onnx
