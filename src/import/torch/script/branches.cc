#include "import/torch/script/branches.h"

#include <algorithm>

namespace tern::torch::script {
namespace {

void CollectTargets(const Expr& target, std::set<std::string>& names) {
  if (target.kind == Expr::Kind::kName) names.insert(target.text);
  if (target.kind == Expr::Kind::kTuple)
    for (const ExprPtr& item : target.items) CollectTargets(*item, names);
}

// Copies the nodes and outputs of `from`, a branch of the temporary If node, to `to`, the same branch of the
// final If node.
void MoveGraph(Graph& from, Graph& to) {
  Value* anchor = to.AddConstant(Tensor::Scalar(DType::kBool, 0));
  Node* end = to.AddNode(*FindOp("Identity"), FindOp("Identity")->defaults, {anchor}, 1);
  const InlinedGraph copy = InlineGraph(from, {}, end);
  to.SetOutputs(copy.outputs);
  to.RemoveNode(end);
  to.RemoveDeadNodes();
  to.RemoveUnusedConstants();
}

}  // namespace

void CollectAssigned(const Block& block, std::set<std::string>& names) {
  for (const auto& statement : block) {
    if (statement->kind == Statement::Kind::kAssign || statement->kind == Statement::Kind::kFor)
      CollectTargets(*statement->target, names);
    CollectAssigned(statement->body, names);
    CollectAssigned(statement->other, names);
  }
}

Status BranchImporter::Import(const Statement& statement, Value* condition) {
  std::set<std::string> yes, no;
  CollectAssigned(statement.body, yes);
  CollectAssigned(statement.other, no);
  std::set_intersection(yes.begin(), yes.end(), no.begin(), no.end(), std::inserter(names_, names_.end()));
  // A variable that only one branch assigns is merged too, if it existed before.
  for (const auto& names : {yes, no})
    for (const std::string& name : names)
      if (frame_.variables.count(name)) names_.insert(name);
  TERN_TRY(Attempt(statement, condition, false));
  if (!with_rest_) return {};
  branches_ = {};
  outputs_.clear();
  return Attempt(statement, condition, true);
}

// Imports both branches into the subgraphs of a temporary If node, because the number of outputs of the final
// If is known only afterwards. With `with_rest`, each branch also includes the statements after the `if`.
// Without it, if the variables of the two branches cannot be merged and statements follow, sets with_rest_ to
// true; the caller then calls Attempt again with `with_rest`.
Status BranchImporter::Attempt(const Statement& statement, Value* condition, bool with_rest) {
  with_rest_ = with_rest;
  Graph& graph = in_.context.graph();
  Builder b = in_.NewBuilder("prim::If");
  Node* scratch = b.Open("If", {condition}, {}, 0);
  for (int i = 0; i < 2; ++i) {
    Branch& branch = branches_[static_cast<size_t>(i)];
    branch.graph = graph.AddSubgraph(scratch, i == 0 ? "then" : "else");
    const Status status = RunBranch(i == 0 ? statement.body : statement.other, with_rest, branch);
    if (!status.ok()) return status;
  }
  if (branches_[0].raises && branches_[1].raises) return branches_[0].error;
  if (branches_[0].raises || branches_[1].raises) {
    // One branch always raises an exception. It is left out of the graph, and the other branch is imported
    // unconditionally.
    graph.RemoveNode(scratch);
    frame_.work.push_back({branches_[0].raises ? &statement.other : &statement.body, 0, nullptr, 0, 0});
    with_rest_ = false;
    return {};
  }
  TERN_TRY(AddUnchanged());
  const MergeOne collect = [this](const Frozen& a, const Frozen& b) -> Result<Value*> {
    TERN_ASSIGN(Value * yes, LeafValue(a, b, *branches_[0].graph));
    TERN_ASSIGN(Value * no, LeafValue(b, a, *branches_[1].graph));
    outputs_.push_back({yes, no});
    return yes;
  };
  TERN_ASSIGN(const Merged planned, MergeAll(collect));
  if (planned.conflict && !with_rest && !frame_.work.empty()) {
    graph.RemoveNode(scratch);
    with_rest_ = true;
    return {};
  }
  with_rest_ = with_rest;
  return Finish(scratch, condition);
}

Status BranchImporter::RunBranch(const Block& block, bool with_rest, Branch& branch) {
  Frame frame = frame_;
  if (!with_rest) frame.work.clear();
  frame.work.push_back({&block, 0, nullptr, 0, 0});
  const TorchContext::Scope tensors(in_.context, *branch.graph);
  const Heap::Scope cells(in_.heap);
  Status status = in_.Run(frame);
  if (!status.ok() && in_.raised_) {
    in_.raised_ = false;
    branch.raises = true;
    branch.error = std::move(status);
    return {};
  }
  TERN_TRY(std::move(status));
  return FreezeState(frame, cells, tensors, branch);
}

Status BranchImporter::FreezeState(const Frame& frame, const Heap::Scope& cells,
                                   const TorchContext::Scope& tensors, Branch& branch) {
  branch.returned = frame.returned;
  if (frame.returned) {
    TERN_ASSIGN(branch.result, Freeze(in_, frame.result));
  }
  const bool all = with_rest_ && !frame.returned;
  for (const auto& [name, item] : frame.variables) {
    if (frame.returned || (!all && !names_.count(name))) continue;
    TERN_ASSIGN(branch.variables[name], Freeze(in_, item));
  }
  for (Cell* cell : cells.Changed()) {
    TERN_ASSIGN(branch.cells[cell], FreezeCell(in_, cell));
  }
  for (const auto& written : tensors.WrittenRoots()) branch.roots.emplace_back(written.root, written.value);
  return {};
}

// Adds the cells that only one branch changed to the other branch, with their old contents.
Status BranchImporter::AddUnchanged() {
  for (size_t i = 0; i < 2; ++i)
    for (const auto& entry : branches_[1 - i].cells)
      if (Cell* cell = entry.first; !branches_[i].cells.count(cell)) {
        TERN_ASSIGN(branches_[i].cells[cell], FreezeCell(in_, cell));
      }
  return {};
}

Result<Value*> BranchImporter::ValueIn(const Branch& branch, const TensorPtr& root) {
  for (const auto& [written, value] : branch.roots)
    if (written == root) return value;
  Builder b = in_.NewBuilder("read");
  return in_.context.Read(*root, b);
}

Result<BranchImporter::Merged> BranchImporter::MergeAll(const MergeOne& merge_one) {
  Merged merged;
  const Branch &yes = branches_[0], &no = branches_[1];
  if (yes.returned != no.returned) return in_.Bad("only one branch of an 'if' returns");
  if (yes.returned) {
    TERN_ASSIGN(merged.result, Merge(in_, yes.result, no.result, merge_one));
  }
  for (const auto& [name, state] : yes.variables) {
    const auto other = no.variables.find(name);
    if (other == no.variables.end()) continue;
    TERN_ASSIGN(Item item, Merge(in_, state, other->second, merge_one));
    merged.conflict |= HasConflict(item);
    merged.variables[name] = std::move(item);
  }
  for (const auto& [cell, state] : yes.cells) {
    TERN_ASSIGN(Item item, MergeContents(in_, state, no.cells.at(cell), merge_one));
    if (item.Is(Item::Kind::kConflict)) return in_.NotYet("a list or dict ", item.text);
    merged.conflict |= HasConflict(item);
    merged.cells.emplace_back(cell, std::move(item));
  }
  std::vector<TensorPtr> roots;
  for (const Branch& branch : branches_)
    for (const auto& written : branch.roots)
      if (std::find(roots.begin(), roots.end(), written.first) == roots.end()) roots.push_back(written.first);
  for (const TensorPtr& root : roots) {
    Frozen a, b;
    a.item = b.item = Item(Arg::Of(root));
    TERN_ASSIGN(a.value, ValueIn(yes, root));
    TERN_ASSIGN(b.value, ValueIn(no, root));
    TERN_ASSIGN(Value * value, merge_one(a, b));
    merged.roots.emplace_back(root, value);
  }
  return merged;
}

Status BranchImporter::Finish(Node* scratch, Value* condition) {
  Graph& graph = in_.context.graph();
  Builder b = in_.NewBuilder("prim::If");
  if (!outputs_.empty()) {
    Node* node = b.Open("If", {condition}, {}, static_cast<int>(outputs_.size()));
    for (size_t i = 0; i < 2; ++i) {
      std::vector<Value*> values;
      for (const auto& pair : outputs_) values.push_back(pair[i]);
      branches_[i].graph->SetOutputs(values);
      MoveGraph(*branches_[i].graph, *graph.AddSubgraph(node, i == 0 ? "then" : "else"));
    }
    b.Finish(node);
    TERN_TRY(Status(b.status()));
    size_t next = 0;
    const MergeOne outputs = [&](const Frozen&, const Frozen&) -> Result<Value*> {
      return node->output(static_cast<int>(next++));
    };
    TERN_ASSIGN(const Merged merged, MergeAll(outputs));
    TERN_TRY(Apply(merged));
  } else {
    const MergeOne none = [](const Frozen& a, const Frozen&) -> Result<Value*> { return a.value; };
    TERN_ASSIGN(const Merged merged, MergeAll(none));
    TERN_TRY(Apply(merged));
  }
  graph.RemoveNode(scratch);
  return {};
}

Status BranchImporter::Apply(const Merged& merged) {
  for (const auto& [name, item] : merged.variables) frame_.variables[name] = item;
  for (const auto& [cell, item] : merged.cells) ReplaceContents(in_, *cell, item);
  Builder b = in_.NewBuilder("prim::If");
  for (const auto& [root, value] : merged.roots) TERN_TRY(in_.context.Write(*root, value, b));
  if (branches_[0].returned) {
    frame_.returned = true;
    frame_.result = merged.result;
  }
  if (with_rest_) frame_.work.clear();
  return b.status();
}

}  // namespace tern::torch::script
