#include "import/tensorflow/control_v1.h"

#include "import/tensorflow/body_importer.h"

namespace tern::tensorflow {

bool IsControlV1(const std::string&) { return false; }
std::vector<std::string> ControlV1Ops() { return {}; }
Result<std::vector<std::string>> DependenciesV1(BodyImporter&, const pb::NodeDef&) {
  return std::vector<std::string>();
}
Status ConvertV1(BodyImporter&, TfNode&, const pb::NodeDef&) { return {}; }

}  // namespace tern::tensorflow
