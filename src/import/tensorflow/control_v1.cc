#include "import/tensorflow/control_v1.h"

#include <algorithm>
#include <set>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/frames.h"
#include "import/tensorflow/ops/control.h"

namespace tern::tensorflow {
namespace {

const char* const kOps[] = {"Switch",    "Merge",    "Enter",    "Exit",    "NextIteration",   "LoopCond",
                            "RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration"};

std::string Base(const std::string& op) { return op.rfind("Ref", 0) == 0 ? op.substr(3) : op; }

Result<const Frames*> FramesOf(BodyImporter& importer) {
  auto& frames = importer.model().frames[&importer.body()];
  if (!frames) {
    TERN_ASSIGN(Frames found, Frames::Of(importer.body()));
    frames = std::make_shared<const Frames>(std::move(found));
  }
  return frames.get();
}

// A condition of TF1. `sides` are the inputs of its Merge for a false and for a true predicate. `index` are
// the numbers of these inputs.
struct Condition {
  std::string predicate;
  std::string sides[2];
  int index[2] = {0, 0};
};

Result<Condition> ConditionOf(const Frames& frames, const pb::NodeDef& merge) {
  const auto inputs = DataInputs(merge);
  if (inputs.size() != 2)
    return Unsupported("node '", merge.name(), "' (Merge) has ", inputs.size(), " inputs");
  const Guards first = frames.GuardsOf(inputs[0]), second = frames.GuardsOf(inputs[1]);
  for (const auto& [predicate, side] : first) {
    const Guards opposite = {{predicate, 1 - side}};
    if (side < 0 || side > 1 ||
        !std::includes(second.begin(), second.end(), opposite.begin(), opposite.end()))
      continue;
    Condition c;
    c.predicate = frames.PredicateName(predicate);
    c.sides[side] = inputs[0];
    c.sides[1 - side] = inputs[1];
    c.index[1 - side] = 1;
    return c;
  }
  return Unsupported("node '", merge.name(), "' (Merge): the condition is not clear");
}

// Returns the nodes outside the branches that the branches need.
std::vector<std::string> Outside(BodyImporter& importer, const Frames& frames, const Condition& condition) {
  std::vector<std::string> open = {condition.sides[0], condition.sides[1]},
                           found = {NodeOf(condition.predicate)};
  std::set<std::string> seen;
  while (!open.empty()) {
    const std::string tensor = open.back();
    open.pop_back();
    const std::string name = NodeOf(tensor);
    const pb::NodeDef* node = importer.body().Find(name);
    if (!frames.DependsOn(tensor, condition.predicate) || !node) {
      found.push_back(name);
      continue;
    }
    if (!seen.insert(name).second) continue;
    const bool gate = Base(node->op()) == "Switch" && node->input_size() > 1 &&
                      frames.PredicateOf(*node) == condition.predicate;
    if (gate)
      found.push_back(NodeOf(node->input(0)));
    else
      for (const std::string& input : DataInputs(*node)) open.push_back(input);
  }
  return found;
}

Status ConvertMerge(BodyImporter& importer, TfNode& n, const pb::NodeDef& node, const Frames& frames) {
  TERN_ASSIGN(const Condition condition, ConditionOf(frames, node));
  TERN_ASSIGN(Edge predicate, importer.Get(condition.predicate));
  Value* value = Materialise(n.b, predicate);
  if (!value) return n.Bad("the condition is not a tensor");
  value = Truth(n, value);
  const auto side = [&](int k, Graph& graph) -> Result<Edge> {
    BodyImporter inner(importer.model(), importer.body(), graph, importer.prefix(), importer.depth() + 1,
                       &importer);
    inner.Assume(condition.predicate);
    return inner.Get(condition.sides[k]);
  };
  if (importer.depth() >= kMaxDepth) return n.NotYet("conditions nested more than ", kMaxDepth, " deep");
  if (value->is_constant()) {
    const int k = LoadLong(value->constant, 0) != 0 ? 1 : 0;
    TERN_ASSIGN(Edge result, side(k, n.b.graph()));
    n.Out(0, result);
    n.Out(1, n.b.Scalar(DType::kI32, condition.index[k]));
    return {};
  }
  const auto branch = [&](int k) {
    return [&, k](Graph& graph) -> Result<std::vector<Edge>> {
      TERN_ASSIGN(Edge result, side(k, graph));
      return std::vector<Edge>{result};
    };
  };
  TERN_ASSIGN(auto results, Branch(n, value, branch(1), branch(0), 1));
  n.Out(0, results[0]);
  n.Out(1, n.Op("Where", {value, n.b.Scalar(DType::kI32, condition.index[1]),
                          n.b.Scalar(DType::kI32, condition.index[0])}));
  return {};
}

// Returns whether the body of a loop returns the variable unchanged.
bool Unchanged(const Body& body, const LoopVariable& v) {
  const pb::NodeDef* next = body.Find(v.next);
  std::string tensor = next && next->input_size() > 0 ? next->input(0) : "";
  for (int steps = 0; steps < 1000; ++steps) {
    const pb::NodeDef* node = body.Find(NodeOf(tensor));
    if (!node || Base(node->op()) != "Identity" || node->input_size() == 0) break;
    tensor = node->input(0);
  }
  return !v.branch.empty() && Canonical(tensor) == v.branch + ":1";
}

Status ConvertExit(BodyImporter& importer, TfNode& n, const LoopFrame& frame) {
  if (frame.condition.empty()) return n.Bad("the loop has no condition");
  if (importer.depth() >= kMaxDepth) return n.NotYet("loops nested more than ", kMaxDepth, " deep");
  const Body& body = importer.body();
  const pb::NodeDef* test = body.Find(frame.condition);
  if (!test || test->input_size() == 0) return n.Bad("the condition of the loop has no input");
  LoopParts parts;
  for (const LoopVariable& v : frame.variables) {
    const pb::NodeDef* enter = body.Find(v.enter);
    if (!enter || enter->input_size() == 0) return n.Bad("'", v.enter, "' has no input");
    TERN_ASSIGN(Edge edge, importer.Get(enter->input(0)));
    parts.inputs.push_back(edge);
    parts.invariant.push_back(Unchanged(body, v));
  }
  const auto inside = [&](const std::vector<Edge>& args, Graph& graph) {
    auto inner = std::make_unique<BodyImporter>(importer.model(), body, graph, importer.prefix(),
                                                importer.depth() + 1, &importer);
    for (size_t i = 0; i < args.size(); ++i) {
      inner->Bind(frame.variables[i].merge, 0, args[i]);
      if (!frame.variables[i].branch.empty()) {
        inner->Bind(frame.variables[i].branch, 1, args[i]);
        inner->Bind(frame.variables[i].branch, 0, args[i]);
      }
    }
    return inner;
  };
  parts.condition = [&](const std::vector<Edge>& args, Graph& graph) {
    return inside(args, graph)->Get(test->input(0));
  };
  parts.body = [&](const std::vector<Edge>& args, Graph& graph) -> Result<std::vector<Edge>> {
    auto inner = inside(args, graph);
    std::vector<Edge> results;
    for (const LoopVariable& v : frame.variables) {
      const pb::NodeDef* next = body.Find(v.next);
      if (!next || next->input_size() == 0) return n.Bad("'", v.next, "' has no input");
      TERN_ASSIGN(Edge edge, inner->Get(next->input(0)));
      results.push_back(edge);
    }
    return results;
  };
  TERN_ASSIGN(auto results, RunLoop(n, parts));
  for (size_t i = 0; i < results.size(); ++i)
    for (const std::string& exit : frame.variables[i].exits) {
      if (exit == n.name())
        n.Out(0, results[i]);
      else
        importer.Bind(exit, 0, results[i]);
    }
  return {};
}

}  // namespace

bool IsControlV1(const std::string& op) {
  return std::any_of(std::begin(kOps), std::end(kOps), [&](const char* name) { return op == name; });
}

std::vector<std::string> ControlV1Ops() { return {std::begin(kOps), std::end(kOps)}; }

Result<std::vector<std::string>> DependenciesV1(BodyImporter& importer, const pb::NodeDef& node) {
  TERN_ASSIGN(const Frames* frames, FramesOf(importer));
  const std::string op = Base(node.op());
  std::vector<std::string> names;
  if (op == "Merge") {
    if (frames->IsLoopMerge(node.name()))
      return InvalidModel("node '", node.name(), "' (Merge) is read outside its loop");
    TERN_ASSIGN(const Condition condition, ConditionOf(*frames, node));
    return Outside(importer, *frames, condition);
  }
  if (op == "Exit") {
    const LoopFrame* frame = frames->LoopOf(node.name());
    if (!frame) return InvalidModel("node '", node.name(), "' (Exit) does not belong to a loop");
    std::vector<std::string> enters = frame->constants;
    for (const LoopVariable& v : frame->variables) enters.push_back(v.enter);
    for (const std::string& enter : enters)
      if (const pb::NodeDef* found = importer.body().Find(enter); found && found->input_size() > 0)
        names.push_back(NodeOf(found->input(0)));
    return names;
  }
  const auto inputs = DataInputs(node);
  if (!inputs.empty()) names.push_back(NodeOf(inputs[0]));
  return names;
}

Status ConvertV1(BodyImporter& importer, TfNode& n, const pb::NodeDef& node) {
  TERN_ASSIGN(const Frames* frames, FramesOf(importer));
  const std::string op = Base(node.op());
  if (op == "Merge") return ConvertMerge(importer, n, node, *frames);
  if (op == "Exit") return ConvertExit(importer, n, *frames->LoopOf(node.name()));
  const auto inputs = DataInputs(node);
  if (inputs.empty()) return n.Bad("there is no input");
  TERN_ASSIGN(Edge data, importer.Get(inputs[0]));
  if (op == "Switch") {
    if (inputs.size() < 2 || !importer.Assumes(frames->PredicateOf(node)))
      return n.NotYet("a Switch without a Merge");
    n.Out(1, data);
  }
  n.Out(0, data);
  return {};
}

}  // namespace tern::tensorflow
