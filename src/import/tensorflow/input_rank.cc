#include "import/tensorflow/input_rank.h"

#include <map>
#include <set>
#include <vector>

#include "import/tensorflow/body.h"

namespace tern::tensorflow {
namespace {

// Returns the rank that an operator requires of its first input, or -1.
int RequiredRank(const std::string& op) {
  static const std::map<std::string, int> ranks = {{"Conv2D", 4},           {"DepthwiseConv2dNative", 4},
                                                   {"MaxPool", 4},          {"AvgPool", 4},
                                                   {"FusedBatchNorm", 4},   {"FusedBatchNormV2", 4},
                                                   {"FusedBatchNormV3", 4}, {"DepthToSpace", 4},
                                                   {"SpaceToDepth", 4},     {"LRN", 4},
                                                   {"ResizeBilinear", 4},   {"ResizeNearestNeighbor", 4},
                                                   {"ResizeBicubic", 4},    {"ResizeArea", 4},
                                                   {"Conv3D", 5},           {"MaxPool3D", 5},
                                                   {"AvgPool3D", 5},        {"MatMul", 2},
                                                   {"ParseExample", 1}};
  const auto found = ranks.find(op);
  return found == ranks.end() ? -1 : found->second;
}

bool KeepsRank(const std::string& op) {
  static const std::set<std::string> ops = {
      "Identity", "Cast",      "Add",       "AddV2",     "Sub",      "Mul",          "RealDiv",
      "Relu",     "Relu6",     "BiasAdd",   "Abs",       "Neg",      "Sqrt",         "Rsqrt",
      "Square",   "Exp",       "Log",       "Tanh",      "Sigmoid",  "Maximum",      "Minimum",
      "Pad",      "PadV2",     "MirrorPad", "Transpose", "ConcatV2", "StopGradient", "PlaceholderWithDefault",
      "Div",      "LeakyRelu", "Elu",       "ReverseV2", "Softmax"};
  return ops.count(op) > 0;
}

}  // namespace

int InputRank(const pb::GraphDef& graph, const std::string& placeholder) {
  std::map<std::string, std::vector<const pb::NodeDef*>> readers;  // by the first input
  for (const auto& node : graph.node()) {
    if (node.input_size() == 0 || IsControl(node.input(0))) continue;
    const auto name = ParseTensorName(node.input(0));
    if (name.ok()) readers[name->node].push_back(&node);
  }
  std::map<std::string, int> change = {{placeholder, 0}};  // node → its rank minus that of the placeholder
  std::vector<std::string> open = {placeholder};
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    for (const pb::NodeDef* node : readers[name]) {
      const int before = change[name], required = RequiredRank(node->op());
      if (required - before >= 0 && required >= 0) return required - before;
      int after = before;
      const auto axes = node->attr().find("squeeze_dims");
      if (node->op() == "ExpandDims")
        ++after;
      else if (node->op() == "Squeeze" && axes != node->attr().end() && axes->second.list().i_size() > 0)
        after -= axes->second.list().i_size();
      else if (!KeepsRank(node->op()))
        continue;
      if (change.emplace(node->name(), after).second) open.push_back(node->name());
    }
  }
  return -1;
}

}  // namespace tern::tensorflow
