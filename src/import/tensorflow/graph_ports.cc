#include "import/tensorflow/graph_ports.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/input_rank.h"
#include "import/tensorflow/op_table.h"
#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {
namespace {

// Returns whether a node without readers can be a result of the model. Some operators never are.
bool IsResult(const pb::NodeDef& node) {
  static const std::set<std::string> none = {"NoOp",
                                             "Assert",
                                             "Placeholder",
                                             "PlaceholderWithDefault",
                                             "PlaceholderV2",
                                             "Const",
                                             "VariableV2",
                                             "Variable",
                                             "VarHandleOp",
                                             "SaveV2",
                                             "Save",
                                             "RestoreV2",
                                             "MergeV2Checkpoints",
                                             "ShardedFilename",
                                             "Print",
                                             "PrintV2",
                                             "WriteFile",
                                             "Assign",
                                             "AssignVariableOp",
                                             "AssignAdd",
                                             "AssignSub",
                                             "AssignAddVariableOp",
                                             "AssignSubVariableOp",
                                             "HashTableV2",
                                             "HashTable",
                                             "InitializeTableFromTextFileV2",
                                             "InitializeTableV2",
                                             "InitializeTable",
                                             "InitializeTableFromTextFile",
                                             "LookupTableImportV2",
                                             "IsVariableInitialized",
                                             "VarIsInitializedOp",
                                             "ControlTrigger",
                                             "NextIteration"};
  return !none.count(node.op()) && node.op().find("Summary") == std::string::npos;
}

std::string SymbolName(const std::string& input, size_t axis) {
  std::string name;
  for (const char c : input) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "x" + name;
  return StrCat(name, "_", axis);
}

int OutputCount(const pb::NodeDef& node) {
  const OpInfo* info = FindOpInfo(node.op());
  if (!info) return 1;
  int64_t count = 0;
  for (const OutputArg& arg : info->outputs) {
    int64_t size = 1;
    const auto number = node.attr().find(arg.number_attr);
    const auto types = node.attr().find(arg.type_list_attr);
    if (number != node.attr().end()) size = number->second.i();
    if (types != node.attr().end()) size = types->second.list().type_size();
    count += std::clamp<int64_t>(size, 0, 10000);
  }
  return static_cast<int>(std::min<int64_t>(count, 10000));
}

// Batch normalisation of a frozen graph has outputs that only training reads.
int UsefulOutputs(const pb::NodeDef& node) {
  return node.op().rfind("FusedBatchNorm", 0) == 0 ? 1 : OutputCount(node);
}

// Returns the nodes that depend on a placeholder, also through control edges. Other nodes are leftovers, such
// as weights that an optimisation replaced.
std::set<std::string> FedNodes(const pb::GraphDef& graph) {
  std::map<std::string, std::vector<std::string>> readers;
  std::vector<std::string> open;
  for (const auto& node : graph.node()) {
    if (node.op().rfind("Placeholder", 0) == 0) open.push_back(node.name());
    for (const std::string& input : node.input()) {
      const auto name = ParseTensorName(input);
      if (name.ok()) readers[name->node].push_back(node.name());
    }
  }
  std::set<std::string> fed;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (!fed.insert(name).second) continue;
    const auto found = readers.find(name);
    if (found != readers.end()) open.insert(open.end(), found->second.begin(), found->second.end());
  }
  return fed;
}

// Drops outputs that are final values of loops (Exit), unless there are no other outputs.
void DropExits(const Body& body, std::vector<NamedTensor>& outputs) {
  const auto is_exit = [&](const NamedTensor& output) {
    const pb::NodeDef* node = body.Find(output.tensor);
    return node && (node->op() == "Exit" || node->op() == "RefExit");
  };
  if (!std::all_of(outputs.begin(), outputs.end(), is_exit))
    outputs.erase(std::remove_if(outputs.begin(), outputs.end(), is_exit), outputs.end());
}

bool IsPlaceholder(const pb::NodeDef& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2";
}

}  // namespace

Result<NamedTensor> InputOf(const std::string& name, const std::string& tensor, int number,
                            const pb::TensorShapeProto& proto) {
  auto dtype = DTypeOf(number);
  if (!dtype.ok()) return Unsupported("input '", name, "': ", dtype.status().message());
  TERN_ASSIGN(Shape shape, ShapeOf(proto));
  for (size_t i = 0; i < shape.dims.size(); ++i)
    if (shape.dims[i].unknown()) shape.dims[i] = Dim::Symbol(SymbolName(name, i));
  const bool complex = IsComplex(*dtype);
  if (complex && !shape.ranked) return Unsupported("input '", name, "' is complex and has no rank");
  if (complex) {
    shape.dims.emplace_back(2);
    dtype = *dtype == DType::kC64 ? DType::kF32 : DType::kF64;
  }
  return NamedTensor{name, tensor, Type::TensorOf(*dtype, shape), complex};
}

Result<std::vector<NamedTensor>> OutputsOfGraph(const pb::GraphDef& graph, const ModelContext& model) {
  TERN_ASSIGN(const Frames frames, Frames::Of(model.main));
  std::set<std::string> nodes_read;
  for (const auto& node : graph.node())
    for (const std::string& input : node.input()) {
      if (IsControl(input)) continue;
      TERN_ASSIGN(const TensorName name, ParseTensorName(input));
      nodes_read.insert(name.node);
    }
  const std::set<std::string> fed = FedNodes(graph);
  std::vector<NamedTensor> outputs;
  for (const auto& node : graph.node()) {
    if (!fed.empty() && !fed.count(node.name())) continue;
    if (nodes_read.count(node.name()) || !IsResult(node) || frames.IsInside(node.name())) continue;
    for (int i = 0; i < UsefulOutputs(node); ++i) {
      const std::string tensor = i == 0 ? node.name() : StrCat(node.name(), ":", i);
      outputs.push_back({tensor, tensor, {}, false});
    }
  }
  DropExits(model.main, outputs);
  if (outputs.empty()) return InvalidModel("the graph has no outputs: every node is read by another one");
  return outputs;
}

Result<std::vector<NamedTensor>> InputsOfGraph(const pb::GraphDef& graph, const ModelContext& model,
                                               const std::vector<NamedTensor>& outputs) {
  std::set<std::string> needed;
  std::vector<std::string> open;
  for (const NamedTensor& output : outputs) {
    TERN_ASSIGN(const TensorName name, ParseTensorName(output.tensor));
    open.push_back(name.node);
  }
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const pb::NodeDef* node = model.main.Find(name);
    if (!node || !needed.insert(name).second) continue;
    for (const std::string& input : node->input()) {
      if (IsControl(input)) continue;
      TERN_ASSIGN(TensorName source, ParseTensorName(input));
      open.push_back(std::move(source.node));
    }
  }
  std::vector<NamedTensor> inputs;
  for (const auto& node : graph.node()) {
    if (!IsPlaceholder(node) || !needed.count(node.name())) continue;
    const auto dtype = node.attr().find("dtype");
    const auto shape = node.attr().find("shape");
    pb::TensorShapeProto unknown;
    unknown.set_unknown_rank(true);
    if (dtype == node.attr().end()) return InvalidModel("node '", node.name(), "' (Placeholder) has no type");
    // Graphs of old versions have a shape of rank 0 where the shape is unknown.
    constexpr int kHonestShapes = 24;
    const bool known = shape != node.attr().end() &&
                       (shape->second.shape().dim_size() > 0 || graph.versions().producer() >= kHonestShapes);
    pb::TensorShapeProto declared = known ? shape->second.shape() : unknown;
    const int rank = declared.unknown_rank() ? InputRank(graph, node.name()) : -1;
    if (rank >= 0) declared.set_unknown_rank(false);
    for (int i = 0; i < rank; ++i) declared.add_dim()->set_size(-1);
    TERN_ASSIGN(NamedTensor input, InputOf(node.name(), node.name(), dtype->second.type(), declared));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

// SavedModels of TF1 list their assets in a collection, those of TF2 in a field.
Result<std::vector<pb::AssetFileDef>> AssetsOf(const pb::MetaGraphDef& meta) {
  std::vector<pb::AssetFileDef> assets(meta.asset_file_def().begin(), meta.asset_file_def().end());
  const auto collection = meta.collection_def().find("saved_model_assets");
  if (collection == meta.collection_def().end()) return assets;
  for (const auto& any : collection->second.any_list().value()) {
    assets.emplace_back();
    if (!assets.back().ParseFromString(any.value()))
      return InvalidModel("an entry of the collection 'saved_model_assets' is broken");
  }
  return assets;
}

}  // namespace

Status AddAssets(const pb::MetaGraphDef& meta, const std::string& folder, ModelContext& model) {
  namespace fs = std::filesystem;
  TERN_ASSIGN(const auto assets, AssetsOf(meta));
  for (const auto& asset : assets) {
    const fs::path file(asset.filename());
    const bool inside = file.is_relative() &&
                        std::none_of(file.begin(), file.end(), [](const fs::path& p) { return p == ".."; });
    if (!inside)
      return InvalidModel("the asset '", asset.filename(), "' is not inside the folder of the model");
    model.assets[asset.tensor_info().name()] = (fs::path(folder) / "assets" / file).string();
  }
  return {};
}

Status BindAssets(ModelContext& model, BodyImporter& importer) {
  for (const auto& [tensor, path] : model.assets) {
    TERN_ASSIGN(const TensorName name, ParseTensorName(tensor));
    importer.Bind(name.node, name.index, Edge(model.graph->AddConstant(Tensor::Strings({}, {path}))));
  }
  return {};
}

}  // namespace tern::tensorflow
