#include "import/onnx/inlined_size.h"

#include <algorithm>

namespace tern::onnx {
namespace {

class Counter {
 public:
  explicit Counter(const ModelContext& context) : context_(context) {}

  // Returns the number of nodes after inlining, but at most kMaxNodes + 1. A graph that is nested deeper than
  // kMaxDepth counts as 0, because the import refuses it anyway.
  int64_t Count(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, int depth) {
    int64_t sum = 0;
    if (depth > kMaxDepth) return sum;
    for (const auto& node : nodes) sum = std::min(kMaxNodes + 1, sum + 1 + CountBelow(node, depth));
    return sum;
  }

 private:
  int64_t CountBelow(const pb::NodeProto& node, int depth) {
    auto function = context_.functions.find(FunctionKey(node.domain(), node.op_type(), node.overload()));
    if (function != context_.functions.end()) return CountFunction(*function->second, depth);
    int64_t sum = 0;
    for (const auto& a : node.attribute())
      if (a.has_g()) sum += Count(a.g().node(), depth + 1);
    return sum;
  }

  // A recursive call counts as 0, because the import refuses it as well.
  int64_t CountFunction(const pb::FunctionProto& function, int depth) {
    const auto [it, fresh] = counts_.emplace(&function, 0);
    if (fresh) it->second = Count(function.node(), depth + 1);
    return it->second;
  }

  const ModelContext& context_;
  std::map<const pb::FunctionProto*, int64_t> counts_;
};

}  // namespace

Status CheckInlinedSize(const ModelContext& context) {
  if (Counter(context).Count(context.model->graph().node(), 0) <= kMaxNodes) return {};
  return Unsupported("the model has more than ", kMaxNodes, " nodes once its functions are inlined");
}

}  // namespace tern::onnx
