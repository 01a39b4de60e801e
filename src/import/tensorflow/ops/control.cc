// Converts the control flow of TF2: If, Case and While, whose branches and bodies are functions.
#include <algorithm>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/control.h"
#include "import/tensorflow/ops/list.h"

namespace tern::tensorflow {
namespace {

std::vector<Edge> ArgsFrom(TfNode& n, int first) {
  std::vector<Edge> args;
  for (int i = first; i < n.InputCount(); ++i) args.push_back(n.At(i));
  return args;
}

Status InlineBranch(TfNode& n, const std::string& function, int first) {
  TERN_ASSIGN(auto results, n.importer().Call(function, ArgsFrom(n, first), n.b.graph(), n.name()));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

// Returns the number of results that are not handles.
int TensorResults(TfNode& n, const std::string& function) {
  const auto found = n.model().functions.find(function);
  if (found == n.model().functions.end()) return 0;
  const auto& args = found->second.function->signature().output_arg();
  return static_cast<int>(
      std::count_if(args.begin(), args.end(), [](const auto& arg) { return arg.type() != pb::DT_RESOURCE; }));
}

BranchMaker FunctionBranch(TfNode& n, std::string function, int first) {
  return [&n, function, first](Graph& graph) {
    return n.importer().Call(function, ArgsFrom(n, first), graph, n.name());
  };
}

Status If(TfNode& n) {
  const std::string yes = n.Function("then_branch"), no = n.Function("else_branch");
  Value* condition = Truth(n, n.In(0));
  if (condition->is_constant()) return InlineBranch(n, LoadLong(condition->constant, 0) ? yes : no, 1);
  TERN_ASSIGN(auto results, Branch(n, condition, FunctionBranch(n, yes, 1), FunctionBranch(n, no, 1),
                                   TensorResults(n, yes)));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

// Emits nested conditions. They test index 0, then index 1, and so on. The innermost one also has the last
// branch.
Result<std::vector<Edge>> CaseFrom(TfNode& n, Value* index, const std::vector<std::string>& branches,
                                   size_t at, Graph& graph) {
  if (at + 1 == branches.size()) return n.importer().Call(branches[at], ArgsFrom(n, 1), graph, n.name());
  Builder b(graph);
  b.At(n.name(), n.op());
  Value* here =
      b.Op("Binary", {index, b.Scalar(index->type.dtype, static_cast<double>(at))}, {{"kind", "equal"}});
  TERN_TRY(Status(b.status()));
  return BranchIn(
      n, b, here, FunctionBranch(n, branches[at], 1),
      [&, at](Graph& inner) { return CaseFrom(n, index, branches, at + 1, inner); },
      TensorResults(n, branches[at]));
}

Status Case(TfNode& n) {
  const auto* a = n.Raw("branches");
  std::vector<std::string> branches;
  if (a)
    for (const auto& f : a->list().func()) branches.push_back(f.name());
  if (branches.empty() || branches.size() > 64) return n.NotYet(branches.size(), " branches");
  Value* index = n.Op("Reshape", {n.In(0), n.b.Ints({})});
  const int last = static_cast<int>(branches.size()) - 1;
  if (index->is_constant()) {
    const int64_t at = LoadLong(index->constant, 0);
    return InlineBranch(n, branches[static_cast<size_t>(at < 0 || at > last ? last : at)], 1);
  }
  TERN_ASSIGN(auto results, CaseFrom(n, index, branches, 0, n.b.graph()));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

// Returns for each argument whether the body returns it unchanged. Such arguments are not states of the loop.
std::vector<bool> Invariants(const Body& body) {
  std::vector<bool> out;
  const auto& signature = body.function->signature();
  for (int i = 0; i < signature.output_arg_size(); ++i) {
    const auto ret = body.function->ret().find(signature.output_arg(i).name());
    std::string name = ret == body.function->ret().end() ? "" : ret->second;
    for (int steps = 0; steps < 1000; ++steps) {
      const auto parsed = ParseTensorName(name);
      const pb::NodeDef* node = parsed.ok() ? body.Find(parsed->node) : nullptr;
      if (!node || node->op() != "Identity" || node->input_size() == 0) break;
      name = node->input(0);
    }
    const auto arg = body.args.find(name);
    out.push_back(arg != body.args.end() && arg->second == i);
  }
  return out;
}

Status While(TfNode& n) {
  const std::string condition = n.Function("cond"), body = n.Function("body");
  const auto found = n.model().functions.find(body);
  if (found == n.model().functions.end()) return n.Bad("function '", body, "' does not exist");
  LoopParts parts;
  parts.inputs = ArgsFrom(n, 0);
  parts.invariant = Invariants(found->second);
  parts.invariant.resize(parts.inputs.size(), false);
  parts.condition = [&](const std::vector<Edge>& args, Graph& graph) -> Result<Edge> {
    TERN_ASSIGN(auto results, n.importer().Call(condition, args, graph, n.name() + "/cond"));
    if (results.size() != 1) return n.Bad("the condition has ", results.size(), " results");
    return results[0];
  };
  parts.body = [&](const std::vector<Edge>& args, Graph& graph) {
    return n.importer().Call(body, args, graph, n.name());
  };
  TERN_ASSIGN(auto results, RunLoop(n, parts));
  for (size_t i = 0; i < results.size(); ++i) n.Out(static_cast<int>(i), results[i]);
  return {};
}

}  // namespace

TERN_CONVERTERS(control) {
  for (const char* op : {"If", "StatelessIf"}) table.Add(op, If);
  for (const char* op : {"Case", "StatelessCase"}) table.Add(op, Case);
  for (const char* op : {"While", "StatelessWhile"}) table.Add(op, While);
}

}  // namespace tern::tensorflow
