#include "import/tensorflow/saved_model.h"

#include <algorithm>

#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {
namespace {

constexpr const char* kDefault = "serving_default";
constexpr const char* kInit = "__saved_model_init_op";

std::vector<std::string> SignatureNames(const pb::MetaGraphDef& graph) {
  std::vector<std::string> names;
  for (const auto& [name, signature] : graph.signature_def())
    if (name != kInit && signature.outputs_size() > 0) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<Port>> PortsOf(const google::protobuf::Map<std::string, pb::TensorInfo>& infos,
                                  const std::string& signature) {
  std::vector<Port> ports;
  for (const auto& [name, info] : infos) {
    if (info.name().empty())
      return Unsupported("signature '", signature, "': '", name, "' is a sparse or composite tensor");
    ports.push_back({name, info.name(), &info});
  }
  std::sort(ports.begin(), ports.end(), [](const Port& a, const Port& b) { return a.name < b.name; });
  return ports;
}

}  // namespace

Result<const pb::MetaGraphDef*> ChooseGraph(const pb::SavedModel& model) {
  if (model.meta_graphs_size() == 0) return InvalidModel("the SavedModel has no graph");
  std::vector<std::string> tags;
  for (const auto& graph : model.meta_graphs()) {
    const auto& own = graph.meta_info_def().tags();
    if (own.size() == 1 && own[0] == "serve") return &graph;
    tags.push_back(Join(std::vector<std::string>(own.begin(), own.end()), "+"));
  }
  if (model.meta_graphs_size() == 1) return &model.meta_graphs(0);
  return Unsupported("none of the graphs of the SavedModel has the tag 'serve'; their tags are ",
                     Join(tags, ", "));
}

Result<Signature> ChooseSignature(const pb::MetaGraphDef& graph, const std::string& wanted) {
  const auto names = SignatureNames(graph);
  std::string name = wanted.empty() ? kDefault : wanted;
  if (wanted.empty() && std::find(names.begin(), names.end(), kDefault) == names.end() && names.size() == 1)
    name = names[0];
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (names.empty())
      return Unsupported(
          "the SavedModel has no signatures; save it with signatures, or with model.export of Keras");
    return InvalidArgument("the SavedModel has no signature '", name, "'; it has ", Join(names, ", "),
                           "; choose one with --signature");
  }
  const auto& proto = graph.signature_def().at(name);
  Signature signature;
  signature.name = name;
  TERN_ASSIGN(signature.inputs, PortsOf(proto.inputs(), name));
  TERN_ASSIGN(signature.outputs, PortsOf(proto.outputs(), name));
  return signature;
}

std::string RestoreNode(const pb::MetaGraphDef& graph) { return graph.saver_def().restore_op_name(); }

std::string InitNode(const pb::MetaGraphDef& graph) {
  const auto init = graph.signature_def().find(kInit);
  if (init != graph.signature_def().end())
    for (const auto& [name, info] : init->second.outputs()) return info.name();
  for (const char* key : {"saved_model_main_op", "legacy_init_op"}) {
    const auto collection = graph.collection_def().find(key);
    if (collection != graph.collection_def().end() && collection->second.node_list().value_size() == 1)
      return collection->second.node_list().value(0);
  }
  return {};
}

}  // namespace tern::tensorflow
