// Checks what the importer itself ignores: unknown attributes, and the declared types of outputs.
#pragma once
#include <string>
#include <vector>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Returns one sentence for each attribute that no version of its operator has. The sentence names the nodes
// with this attribute, so that the user can find misspelt attributes. The import ignores such attributes.
std::vector<std::string> UnknownAttributes(const pb::ModelProto& model);

// Fails if an output's declared element type differs from the type that its node produces. Otherwise a caller
// that relies on the declaration would misread the result.
Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph);

}  // namespace tern::onnx
