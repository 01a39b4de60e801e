// Checks what the importer itself ignores: unknown attributes, and the declared types of outputs.
#pragma once
#include <string>
#include <vector>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Returns one sentence for each attribute that no version of its operator has. Skips operators that
// attributes.inc does not list. The sentence names up to three nodes with this attribute, so that the user
// can find misspelt attributes. The import ignores such attributes.
std::vector<std::string> UnknownAttributes(const pb::ModelProto& model);

// Fails if the declared element type of a tensor output differs from the type that its node produces.
// Otherwise a caller that relies on the declaration would misread the result.
Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph);

}  // namespace tern::onnx
