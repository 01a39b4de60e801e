#include "import/onnx/unsupported.h"

#include "import/common/unsupported.h"

namespace tern::onnx {
namespace {

class Finder {
 public:
  explicit Finder(const ModelContext& context) : context_(context) {}
  import::UnsupportedOperators missing;

  // Ignores graphs that are nested deeper than kMaxDepth, because the import refuses them anyway.
  void Visit(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, int depth = 0) {
    if (depth > kMaxDepth) return;
    for (const auto& node : nodes) {
      VisitOne(node, depth + 1);
      for (const auto& a : node.attribute()) {
        if (a.has_g()) Visit(a.g().node(), depth + 1);
        for (const auto& g : a.graphs()) Visit(g.node(), depth + 1);
      }
    }
  }

 private:
  void VisitOne(const pb::NodeProto& node, int depth) {
    const std::string domain = CleanDomain(node.domain());
    auto function = context_.functions.find(FunctionKey(domain, node.op_type(), node.overload()));
    if (function != context_.functions.end()) {
      if (visited_.insert(function->second).second) Visit(function->second->node(), depth);
      return;
    }
    if (Converters().Find(domain, node.op_type())) return;
    missing.Add(domain.empty() ? node.op_type() : StrCat(domain, ".", node.op_type()),
                StrCat("'", NodeLabel(node), "'"));
  }

  const ModelContext& context_;
  std::set<const pb::FunctionProto*> visited_;
};

}  // namespace

Status ListUnsupported(const ModelContext& context) {
  Finder finder(context);
  finder.Visit(context.model->graph().node());
  return finder.missing.status();
}

}  // namespace tern::onnx
