#include "import/onnx/review.h"

#include <algorithm>

namespace tern::onnx {
namespace {

constexpr size_t kNodesShown = 3;

struct ReviewRow {
  const char *domain, *op, *attributes;
};
constexpr ReviewRow kReviewRows[] = {
#define TERN_ONNX_ATTRIBUTES(domain, op, attributes) {domain, #op, attributes},
#include "import/onnx/attributes.inc"
#undef TERN_ONNX_ATTRIBUTES
};

std::string OperatorName(const std::string& domain, const std::string& op) {
  return domain.empty() ? op : StrCat(domain, ".", op);
}

// Returns the attributes of an operator, or null if attributes.inc does not list the operator.
const std::vector<std::string>* AttributesOf(const std::string& name) {
  static const auto* table = [] {
    auto* t = new std::map<std::string, std::vector<std::string>>();
    for (const ReviewRow& row : kReviewRows)
      (*t)[OperatorName(row.domain, row.op)] =
          *row.attributes ? SplitText(row.attributes, ' ') : std::vector<std::string>();
    return t;
  }();
  const auto it = table->find(name);
  return it == table->end() ? nullptr : &it->second;
}

class Reviewer {
 public:
  explicit Reviewer(const pb::ModelProto& model) {
    for (const auto& f : model.functions())
      functions_.insert(FunctionKey(f.domain(), f.name(), f.overload()));
  }

  // Visits nested graphs recursively. The recursion cannot be too deep, because the parser refuses deeply
  // nested messages.
  void Visit(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
    for (const auto& node : nodes) {
      VisitOne(node);
      for (const auto& a : node.attribute()) {
        if (a.has_g()) Visit(a.g().node());
        for (const auto& g : a.graphs()) Visit(g.node());
      }
    }
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const auto& [key, nodes] : found_) {
      const auto& [op, attribute] = key;
      const std::vector<std::string>& known = *AttributesOf(op);
      const std::vector<std::string> shown(
          nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(std::min(nodes.size(), kNodesShown)));
      texts.push_back(StrCat("attribute '", attribute, "' is ignored at ", Join(shown, ", "),
                             nodes.size() > shown.size() ? ", …" : "", ": ", op,
                             known.empty() ? " has no attributes" : StrCat(" has ", Join(known, ", "))));
    }
    return texts;
  }

 private:
  void VisitOne(const pb::NodeProto& node) {
    const std::string domain = CleanDomain(node.domain());
    if (functions_.count(FunctionKey(domain, node.op_type(), node.overload()))) return;
    const std::string op = OperatorName(domain, node.op_type());
    const std::vector<std::string>* known = AttributesOf(op);
    if (!known) return;
    for (const auto& a : node.attribute())
      if (std::find(known->begin(), known->end(), a.name()) == known->end())
        found_[{op, a.name()}].push_back(StrCat("node '", NodeLabel(node), "'"));
  }

  std::set<std::string> functions_;
  // (operator, attribute) → nodes
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> found_;
};

}  // namespace

std::vector<std::string> UnknownAttributes(const pb::ModelProto& model) {
  Reviewer reviewer(model);
  reviewer.Visit(model.graph().node());
  for (const auto& f : model.functions()) reviewer.Visit(f.node());
  return reviewer.Texts();
}

Status CheckOutputTypes(const pb::GraphProto& proto, const Graph& graph) {
  for (int i = 0; i < proto.output_size(); ++i) {
    const Value& output = *graph.outputs()[static_cast<size_t>(i)];
    const Type declared = TypeFromOnnx(proto.output(i).type(), {});
    if (!declared.tensor() || !output.type.tensor() || declared.dtype == output.type.dtype) continue;
    if (declared.dtype == DType::kInvalid || output.type.dtype == DType::kInvalid) continue;
    return InvalidModel("output '", output.name, "' is declared as ", DTypeName(declared.dtype), ", but ",
                        output.producer ? output.producer->Describe() : "the graph", " produces ",
                        output.type.ToString());
  }
  return {};
}

}  // namespace tern::onnx
