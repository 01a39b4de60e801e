// Chooses the graph and the signature of a SavedModel.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// One input or output of a signature.
struct Port {
  std::string name;    // the key in the signature
  std::string tensor;  // "node:0"
  const pb::TensorInfo* info = nullptr;
};

struct Signature {
  std::string name;
  std::vector<Port> inputs, outputs;  // sorted by name
};

// Returns the graph whose only tag is "serve". If there is none, returns the only graph of the model. Fails
// if neither exists.
Result<const pb::MetaGraphDef*> ChooseGraph(const pb::SavedModel& model);
// `wanted` is the name of a signature. If `wanted` is empty, returns the signature "serving_default". If
// there is none, returns the only signature. Fails if this signature does not exist.
Result<Signature> ChooseSignature(const pb::MetaGraphDef& graph, const std::string& wanted);
// Return the node that restores the variables and the node that initialises the tables, or an empty string if
// there is none.
std::string RestoreNode(const pb::MetaGraphDef& graph);
std::string InitNode(const pb::MetaGraphDef& graph);

}  // namespace tern::tensorflow
