#include "import/tensorflow/body.h"

#include "base/strings.h"
#include "import/tensorflow/op_table.h"

namespace tern::tensorflow {
namespace {

Result<Body> IndexNodes(Body body, const google::protobuf::RepeatedPtrField<pb::NodeDef>& nodes) {
  for (const auto& node : nodes) {
    if (node.name().empty()) return InvalidModel("a node of type ", node.op(), " has no name");
    if (!body.nodes.emplace(node.name(), &node).second)
      return InvalidModel("two nodes are called '", node.name(), "'");
  }
  return body;
}

// Returns the number of outputs of one output argument.
Result<int> SizeOf(const OutputArg& arg, const pb::NodeDef& node) {
  if (arg.number_attr.empty() && arg.type_list_attr.empty()) return 1;
  const auto found = node.attr().find(arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr);
  if (found == node.attr().end())
    return InvalidModel("node '", node.name(), "' (", node.op(), ") does not say how many outputs it has");
  const int64_t size = arg.number_attr.empty() ? found->second.list().type_size() : found->second.i();
  if (size < 0 || size > 1000000)
    return InvalidModel("node '", node.name(), "' (", node.op(), ") has ", size, " outputs");
  return static_cast<int>(size);
}

std::vector<OutputArg> OutputsOf(const pb::NodeDef& node, const Functions& functions) {
  const auto called = functions.find(node.op());
  if (called == functions.end()) {
    const OpInfo* info = FindOpInfo(node.op());
    return info ? info->outputs : std::vector<OutputArg>();
  }
  std::vector<OutputArg> outputs;
  for (const auto& arg : called->second.function->signature().output_arg())
    outputs.push_back({arg.name(), arg.number_attr(), arg.type_list_attr()});
  return outputs;
}

}  // namespace

Result<TensorName> ParseTensorName(std::string_view text) {
  if (IsControl(text)) text.remove_prefix(1);
  const auto parts = SplitText(text, ':');
  TensorName name{parts[0], "", 0};
  int64_t index = 0;
  if (parts.size() > 3 || parts[0].empty()) return InvalidModel("'", text, "' is not the name of a tensor");
  if (parts.size() > 1) {
    if (!ParseInt(parts.back(), index) || index < 0 || index > 1000000)
      return InvalidModel("'", text, "' is not the name of a tensor");
    name.index = static_cast<int>(index);
  }
  if (parts.size() == 3) name.output = parts[1];
  return name;
}

Result<Body> Body::OfGraph(const pb::GraphDef& graph) { return IndexNodes(Body(), graph.node()); }

Result<Body> Body::OfFunction(const pb::FunctionDef& function) {
  Body body;
  body.name = function.signature().name();
  body.function = &function;
  for (int i = 0; i < function.signature().input_arg_size(); ++i)
    body.args.emplace(function.signature().input_arg(i).name(), i);
  return IndexNodes(std::move(body), function.node_def());
}

const pb::NodeDef* Body::Find(std::string_view name) const {
  const auto found = nodes.find(name);
  return found == nodes.end() ? nullptr : found->second;
}

Result<int> OutputIndex(const TensorName& name, const pb::NodeDef& node, const Functions& functions) {
  if (name.output.empty()) return name.index;
  int start = 0;
  for (const OutputArg& arg : OutputsOf(node, functions)) {
    if (arg.name == name.output) return start + name.index;
    TERN_ASSIGN(const int size, SizeOf(arg, node));
    start += size;
  }
  return InvalidModel("node '", node.name(), "' (", node.op(), ") has no output '", name.output, "'");
}

std::vector<std::string> CalledFunctions(const pb::NodeDef& node, const Functions& functions) {
  std::vector<std::string> names;
  if (functions.count(node.op())) names.push_back(node.op());
  for (const auto& [key, value] : node.attr()) {
    if (value.value_case() == pb::AttrValue::kFunc) names.push_back(value.func().name());
    for (const auto& f : value.list().func()) names.push_back(f.name());
  }
  return names;
}

}  // namespace tern::tensorflow
