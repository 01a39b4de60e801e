#include "import/tensorflow/unsupported.h"

#include <functional>
#include <set>
#include <string>

#include "import/common/unsupported.h"
#include "import/tensorflow/control_v1.h"

namespace tern::tensorflow {
namespace {

// Visits the nodes of a model that `roots` need, also in functions. A chain of calls may be as long as the
// file permits, so functions are visited one after the other. Nodes in `given` are inputs of the model.
class Walk {
 public:
  explicit Walk(const ModelContext& model) : model_(model) {}

  Status ListUnsupported(const std::vector<std::string>& roots, const std::set<std::string>& given) {
    import::UnsupportedOperators missing;
    TERN_TRY(VisitAll(roots, given, false, [&](const pb::NodeDef& node, const Body& body) -> Status {
      if (!model_.functions.count(node.op()) && !Converters().Find(node.op()) && !IsControlV1(node.op()))
        missing.Add(node.op(), body.name.empty()
                                   ? StrCat("'", node.name(), "'")
                                   : StrCat("'", node.name(), "' (function '", body.name, "')"));
      return {};
    }));
    return missing.status();
  }

  // Looks for nodes that change variables, also behind control edges. Tern reads variables once, at import,
  // so a model whose results depend on such changes would give wrong results.
  Status CheckChanges(const std::vector<std::string>& roots, const std::set<std::string>& given) {
    return VisitAll(roots, given, true, [&](const pb::NodeDef& node, const Body&) -> Status {
      if (!ChangesState(node.op())) return {};
      return Unsupported("node '", node.name(), "' (", node.op(),
                         ") changes a variable or a table when the model runs");
    });
  }

 private:
  using Check = std::function<Status(const pb::NodeDef& node, const Body& body)>;
  struct Part {
    const Body* body;
    std::vector<std::string> roots;
    std::set<std::string> seen;
  };

  Status VisitAll(const std::vector<std::string>& roots, const std::set<std::string>& given, bool control,
                  const Check& check) {
    std::set<std::string> functions;
    std::vector<Part> parts = {{&model_.main, roots, given}};
    while (!parts.empty()) {
      Part part = std::move(parts.back());
      parts.pop_back();
      while (!part.roots.empty()) {
        const auto name = ParseTensorName(part.roots.back());
        part.roots.pop_back();
        const pb::NodeDef* node = name.ok() ? part.body->Find(name->node) : nullptr;
        if (!node || !part.seen.insert(name->node).second) continue;
        TERN_TRY(check(*node, *part.body));
        for (const std::string& input : node->input())
          if (control || !IsControl(input)) part.roots.push_back(input);
        for (const std::string& function : CalledFunctions(*node, model_.functions))
          if (functions.insert(function).second) AddFunction(function, control, parts);
      }
    }
    return {};
  }

  void AddFunction(const std::string& name, bool control, std::vector<Part>& parts) const {
    const auto found = model_.functions.find(name);
    if (found == model_.functions.end()) return;
    std::vector<std::string> roots;
    for (const auto& [key, tensor] : found->second.function->ret()) roots.push_back(tensor);
    if (control)
      for (const auto& [key, node] : found->second.function->control_ret()) roots.push_back(node);
    parts.push_back({&found->second, std::move(roots), {}});
  }

  static bool ChangesState(const std::string& op) {
    static const std::set<std::string> ops = {"Assign",
                                              "AssignAdd",
                                              "AssignSub",
                                              "AssignVariableOp",
                                              "AssignAddVariableOp",
                                              "AssignSubVariableOp",
                                              "LookupTableInsert",
                                              "LookupTableInsertV2"};
    return ops.count(op) > 0 || op.rfind("ResourceScatter", 0) == 0 || op.rfind("ResourceApply", 0) == 0;
  }

  const ModelContext& model_;
};

}  // namespace

Status ListUnsupported(const ModelContext& model, const std::vector<NamedTensor>& inputs,
                       const std::vector<NamedTensor>& outputs) {
  std::set<std::string> given;
  std::vector<std::string> roots;
  for (const NamedTensor& input : inputs) {
    TERN_ASSIGN(TensorName name, ParseTensorName(input.tensor));
    given.insert(std::move(name.node));
  }
  for (const NamedTensor& output : outputs) roots.push_back(output.tensor);
  Walk walk(model);
  TERN_TRY(walk.ListUnsupported(roots, given));
  return walk.CheckChanges(roots, given);
}

}  // namespace tern::tensorflow
