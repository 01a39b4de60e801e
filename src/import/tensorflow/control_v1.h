// The control flow of TF1: conditions made of Switch and Merge, and loops made of Enter, Merge, Switch,
// NextIteration and Exit.
#pragma once
#include <string>
#include <vector>

#include "import/tensorflow/converter.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// Returns whether ConvertV1 converts the operator. Such operators are Merge, Exit and so on.
bool IsControlV1(const std::string& op);
std::vector<std::string> ControlV1Ops();
// Returns the nodes that must be converted before the node itself.
Result<std::vector<std::string>> DependenciesV1(BodyImporter& importer, const pb::NodeDef& node);
Status ConvertV1(BodyImporter& importer, TfNode& n, const pb::NodeDef& node);

}  // namespace tern::tensorflow
