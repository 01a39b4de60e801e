// Finds declarations of a file that the import does not use: unknown attributes and output types.
#pragma once
#include <string>
#include <vector>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {

// Returns one text per attribute that no version of its operator has, with the nodes that carry it. The
// import ignores such attributes; the warning reveals a misspelt one.
std::vector<std::string> UnknownAttributes(const pb::ModelProto& model);

// Fails if an output's declared element type differs from the type that its node produces: a caller that
// trusts the declaration would misread the result.
Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph);

}  // namespace tern::onnx
