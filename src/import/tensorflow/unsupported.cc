#include "import/tensorflow/unsupported.h"

#include <set>
#include <string>

#include "import/common/unsupported.h"
#include "import/tensorflow/control_v1.h"

namespace tern::tensorflow {
namespace {

class Walk {
 public:
  explicit Walk(const ModelContext& model) : model_(model) {}

  // Visits the nodes of a body that `roots` need. Nodes in `given` are inputs of the model.
  void Visit(const Body& body, std::vector<std::string> roots, std::set<std::string> given) {
    std::set<std::string> seen = std::move(given);
    while (!roots.empty()) {
      const auto name = ParseTensorName(roots.back());
      roots.pop_back();
      if (!name.ok()) continue;
      const pb::NodeDef* node = body.Find(name->node);
      if (!node || !seen.insert(name->node).second) continue;
      Check(*node, body);
      for (const std::string& input : node->input())
        if (!IsControl(input)) roots.push_back(input);
    }
  }
  const import::UnsupportedOperators& found() const { return found_; }

  // Looks for nodes that change variables, also behind control edges. Tern reads variables once, at import,
  // so a model whose results depend on such changes would give wrong results.
  Status CheckChanges(const Body& body, std::vector<std::string> roots, std::set<std::string> given) {
    std::set<std::string> seen = std::move(given);
    while (!roots.empty()) {
      const auto name = ParseTensorName(roots.back());
      roots.pop_back();
      const pb::NodeDef* node = name.ok() ? body.Find(name->node) : nullptr;
      if (!node || !seen.insert(name->node).second) continue;
      if (ChangesState(node->op()))
        return Unsupported("node '", node->name(), "' (", node->op(),
                           ") changes a variable or a table when the model runs");
      for (const std::string& function : CalledFunctions(*node, model_.functions)) {
        const auto found = model_.functions.find(function);
        if (found == model_.functions.end() || !changed_.insert(function).second) continue;
        std::vector<std::string> results;
        for (const auto& [key, tensor] : found->second.function->ret()) results.push_back(tensor);
        for (const auto& [key, control] : found->second.function->control_ret()) results.push_back(control);
        TERN_TRY(CheckChanges(found->second, std::move(results), {}));
      }
      roots.insert(roots.end(), node->input().begin(), node->input().end());
    }
    return {};
  }

 private:
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

  void Check(const pb::NodeDef& node, const Body& body) {
    for (const std::string& name : CalledFunctions(node, model_.functions)) {
      const auto function = model_.functions.find(name);
      if (function == model_.functions.end() || !functions_.insert(name).second) continue;
      std::vector<std::string> roots;
      for (const auto& [key, tensor] : function->second.function->ret()) roots.push_back(tensor);
      Visit(function->second, roots, {});
    }
    if (model_.functions.count(node.op()) || Converters().Find(node.op()) || IsControlV1(node.op())) return;
    found_.Add(node.op(), body.name.empty() ? StrCat("'", node.name(), "'")
                                            : StrCat("'", node.name(), "' (function '", body.name, "')"));
  }

  const ModelContext& model_;
  std::set<std::string> functions_, changed_;
  import::UnsupportedOperators found_;
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
  walk.Visit(model.main, roots, given);
  TERN_TRY(walk.found().status());
  return walk.CheckChanges(model.main, std::move(roots), std::move(given));
}

}  // namespace tern::tensorflow
