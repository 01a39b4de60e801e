// What a file says and an import does not use: attributes nobody reads, types nobody needs.
#pragma once
#include <string>
#include <vector>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// One text for each attribute that its operator does not have in any version, with the nodes that carry it.
// The import ignores them, which a misspelt one should not be in silence.
std::vector<std::string> UnknownAttributes(const pb::ModelProto& model);

// An output declared with another element type than its node gives is an error: whoever reads the result by
// the declaration would read other numbers.
Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph);

}  // namespace tern::onnx
