// Checks what the import itself ignores: unknown attributes, and the declared types of outputs.
#pragma once
#include <string>
#include <vector>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Returns one sentence for each attribute that no version of its operator has, with the names of the nodes
// that have this attribute. The import ignores such attributes. The sentence helps to find misspelt
// attributes.
std::vector<std::string> UnknownAttributes(const pb::ModelProto& model);

// Fails if an output's declared element type differs from the type that its node produces, because a caller
// that relies on the declaration would misread the result.
Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph);

}  // namespace tern::onnx
