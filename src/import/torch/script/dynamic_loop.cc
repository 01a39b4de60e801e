#include "import/torch/script/dynamic_loop.h"

#include <algorithm>
#include <set>

#include "import/torch/aten/scalar.h"
#include "import/torch/script/branches.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxRounds = 12;

std::string CellKey(size_t i) { return StrCat("#", i); }
std::string RootKey(size_t i) { return StrCat("@", i); }

Type Scalar(DType dtype) { return Type::TensorOf(dtype, Shape(std::vector<Dim>{})); }

bool IsValue(const Frozen& f) { return f.item.tensor() || f.item.number() || f.value; }

Frozen RootState(const TensorPtr& root, Value* value) {
  Frozen frozen;
  frozen.item = Item(Arg::Of(root));
  frozen.value = value;
  return frozen;
}

}  // namespace

Status DynamicLoop::FreezeStart() {
  std::set<std::string> names;
  CollectAssigned(statement_.body, names);
  for (const std::string& name : names) {
    const auto found = frame_.variables.find(name);
    if (found == frame_.variables.end()) continue;
    TERN_ASSIGN(variables_[name], Freeze(in_, found->second));
  }
  return {};
}

Status DynamicLoop::Import(Value* trips, Value* condition) {
  TERN_TRY(FreezeStart());
  for (int i = 0; i < kMaxRounds && !stable_; ++i) TERN_TRY(Round(trips, condition));
  return stable_ ? Status() : in_.NotYet("the variables of a loop have no stable types");
}

bool DynamicLoop::Changes(const std::string& key) const {
  const auto at = leaves_.lower_bound(key);
  return at != leaves_.end() && (at->first == key || StartsWith(at->first, key + "/"))
             ? true
             : leaves_.lower_bound(key + "/") != leaves_.end() &&
                   StartsWith(leaves_.lower_bound(key + "/")->first, key + "/");
}

Result<Node*> DynamicLoop::Open(Value* trips, Value* condition) {
  Builder b = in_.NewBuilder("prim::Loop");
  std::vector<Value*> inputs = {trips, condition};
  for (auto& entry : leaves_) {
    Leaf& leaf = entry.second;
    TERN_ASSIGN(Value * start, LeafValue(leaf.start, leaf.end, in_.context.graph()));
    inputs.push_back(start);
  }
  Node* node = b.Open("Loop", inputs, {}, static_cast<int>(leaves_.size()));
  body_ = in_.context.graph().AddSubgraph(node, "body");
  body_->AddInput("iteration", Scalar(DType::kI64));
  body_->AddInput("condition", Scalar(DType::kBool));
  for (auto& [key, leaf] : leaves_) leaf.input = body_->AddInput(key, leaf.type);
  return node;
}

// Runs the body once. Sets stable_ if the states and their types are the same as in the last round.
Status DynamicLoop::Round(Value* trips, Value* condition) {
  stable_ = true;
  TERN_ASSIGN(Node * node, Open(trips, condition));
  TERN_TRY(RunBody(*body_));
  TERN_TRY(AddNewSlots());
  if (stable_) return Finish(node);
  in_.context.graph().RemoveNode(node);
  return {};
}

Status DynamicLoop::RunBody(Graph& body) {
  Frame frame = frame_;
  frame.work = {{&statement_.body, 0, nullptr, 0, 0}};
  const TorchContext::Scope tensors(in_.context, body);
  const Heap::Scope cells(in_.heap);
  TERN_TRY(EnterBody(frame));
  TERN_TRY(in_.Run(frame));
  TERN_TRY(LeaveBody(frame, body));
  return NoteChanges(cells, tensors);
}

Status DynamicLoop::EnterBody(Frame& frame) {
  for (const auto& [name, start] : variables_) frame.variables[name] = Replace(start, name, &Leaf::input);
  for (size_t i = 0; i < cells_.size(); ++i)
    if (Changes(CellKey(i)))
      ReplaceContents(in_, *cells_[i].first, Replace(cells_[i].second, CellKey(i), &Leaf::input));
  Builder b = in_.NewBuilder("prim::Loop");
  for (size_t i = 0; i < roots_.size(); ++i)
    TERN_TRY(in_.context.Write(*roots_[i], leaves_.at(RootKey(i)).input, b));
  if (statement_.kind == Statement::Kind::kFor)
    frame.variables[statement_.target->text] = Item(Arg::Computed(body_->inputs()[0]));
  return {};
}

Status DynamicLoop::LeaveBody(Frame& frame, Graph& body) {
  Builder b(body);
  if (statement_.kind == Statement::Kind::kWhile) {
    TERN_ASSIGN(const Item value, in_.Eval(*statement_.value, frame));
    TERN_ASSIGN(const Arg condition, in_.ToBool(value));
    condition_ = ScalarValue(b, condition);
  } else {
    condition_ = b.Const(Tensor::Scalar(DType::kBool, 1));
  }
  for (const auto& [name, start] : variables_) {
    TERN_ASSIGN(const Frozen end, Freeze(in_, frame.variables.at(name)));
    TERN_TRY(Compare(start, end, name));
  }
  for (size_t i = 0; i < cells_.size(); ++i) {
    TERN_ASSIGN(const Frozen end, FreezeCell(in_, cells_[i].first));
    TERN_TRY(Compare(cells_[i].second, end, CellKey(i)));
  }
  return b.status();
}

// Records the cells and tensors that the body changed and that are no states yet. AddNewSlots adds them.
Status DynamicLoop::NoteChanges(const Heap::Scope& cells, const TorchContext::Scope& tensors) {
  for (Cell* cell : cells.Changed()) {
    const auto same = [&](const auto& entry) { return entry.first == cell; };
    if (std::none_of(cells_.begin(), cells_.end(), same)) new_cells_.push_back(cell);
  }
  for (const auto& written : tensors.WrittenRoots()) {
    const auto at = std::find(roots_.begin(), roots_.end(), written.root);
    if (at == roots_.end())
      new_roots_.push_back(written.root);
    else
      TERN_TRY(SetOutput(leaves_.at(RootKey(static_cast<size_t>(at - roots_.begin()))),
                         RootState(written.root, written.value)));
  }
  return {};
}

// Adds what NoteChanges found as states. The caller has left the scope of the body, so the cells and tensors
// have their contents from before the loop again.
Status DynamicLoop::AddNewSlots() {
  for (Cell* cell : new_cells_) {
    TERN_ASSIGN(Frozen start, FreezeCell(in_, cell));
    cells_.emplace_back(cell, std::move(start));
    stable_ = false;
  }
  Builder b = in_.NewBuilder("prim::Loop");
  for (const TensorPtr& root : new_roots_) {
    TERN_ASSIGN(Value * value, in_.context.Read(*root, b));
    Leaf& leaf = leaves_[RootKey(roots_.size())];
    leaf.type = value->type;
    leaf.start = leaf.end = RootState(root, value);
    roots_.push_back(root);
    stable_ = false;
  }
  new_cells_.clear();
  new_roots_.clear();
  return b.status();
}

Item DynamicLoop::Replace(const Frozen& start, const std::string& key, Value* Leaf::*by) {
  const auto found = leaves_.find(key);
  if (found != leaves_.end()) {
    const Leaf& leaf = found->second;
    return LeafItem(in_, leaf.start.item.Is(Item::Kind::kUninitialized) ? leaf.end : leaf.start, leaf.*by);
  }
  if (!start.container() || !Changes(key)) return start.item;
  Item made = in_.heap.Make(start.item.kind, start.item.cell->type);
  for (size_t i = 0; i < start.items.size(); ++i) {
    Item part = Replace(start.items[i], StrCat(key, "/", i), by);
    if (start.item.Is(Item::Kind::kObject))
      made.cell->attributes[start.keys[i].arg.text] = std::move(part);
    else
      made.cell->items.push_back(std::move(part));
  }
  if (start.item.Is(Item::Kind::kDict)) made.cell->keys = start.keys;
  made.cell->path = start.item.cell->path;
  return made;
}

// Replaces values of the body by values of types_ with the same types, because the body is removed after each
// round except the last.
Frozen DynamicLoop::Detach(const Frozen& end) {
  Frozen copy = end;
  if (copy.value) copy.value = types_.AddInput("", copy.value->type);
  for (Frozen& item : copy.items) item = Detach(item);
  return copy;
}

Status DynamicLoop::SetOutput(Leaf& leaf, const Frozen& end) {
  leaf.end = Detach(end);
  TERN_ASSIGN(leaf.output, LeafValue(end, leaf.start, *body_));
  const Type merged = MergeTypes(leaf.type, leaf.output->type);
  if (merged.ToString() == leaf.type.ToString()) return {};
  if (merged.kind == Type::Kind::kTensor && merged.dtype == DType::kInvalid)
    return in_.NotYet("a variable is ", leaf.type.ToString(), " before an iteration of a loop and ",
                      leaf.output->type.ToString(), " after it");
  leaf.type = merged;
  stable_ = false;
  return {};
}

Status DynamicLoop::AddLeaf(const std::string& key, const Frozen& start, const Frozen& end) {
  // A list that becomes a leaf replaces the leaves of its items.
  for (auto at = leaves_.lower_bound(key); at != leaves_.end() && StartsWith(at->first, key);)
    at = StartsWith(at->first, key + "/") ? leaves_.erase(at) : std::next(at);
  Leaf& leaf = leaves_[key];
  leaf.start = start;
  leaf.end = end;
  Graph scratch;
  TERN_ASSIGN(const Value* before, LeafValue(start, end, scratch));
  TERN_ASSIGN(const Value* after, LeafValue(end, start, scratch));
  leaf.type = MergeTypes(before->type, after->type);
  scratch.RemoveDeadNodes();
  leaf.end = Detach(end);
  stable_ = false;
  return {};
}

Status DynamicLoop::Compare(const Frozen& start, const Frozen& end, const std::string& key) {
  const auto found = leaves_.find(key);
  if (found != leaves_.end()) {
    const bool list = start.item.Is(Item::Kind::kList);
    const bool fits = list ? end.item.Is(Item::Kind::kList)
                           : end.item.tensor() == found->second.end.item.tensor() && IsValue(end);
    if (!fits) return in_.NotYet("a variable of a loop becomes ", end.item.Describe());
    return SetOutput(found->second, end);
  }
  if (end.item.Is(Item::Kind::kConflict)) return in_.NotYet("a variable of a loop ", end.item.text);
  if (!start.container() && SameLeaf(start, end)) return {};
  const bool known = start.item.Is(Item::Kind::kUninitialized) ||
                     (start.item.tensor() && end.item.tensor()) ||
                     (start.item.number() && end.item.number() && start.item.arg.kind == end.item.arg.kind);
  if (known && end.item.Is(Item::Kind::kUninitialized)) return {};
  if (known && IsValue(end)) return AddLeaf(key, start, end);
  const bool same_kind = start.container() && start.item.kind == end.item.kind;
  if (same_kind && start.item.Is(Item::Kind::kObject) && key[0] != '#')
    return start.item.cell == end.item.cell ? Status() : in_.NotYet("a loop replaces an object");
  if (same_kind && !start.value && !end.value && start.items.size() == end.items.size()) {
    for (size_t i = 0; i < start.items.size(); ++i)
      TERN_TRY(Compare(start.items[i], end.items[i], StrCat(key, "/", i)));
    return {};
  }
  if (same_kind && start.item.Is(Item::Kind::kList)) {
    for (const Frozen* list : {&start, &end})
      for (const Frozen& item : list->items)
        if (!item.item.tensor())
          return in_.NotYet("a loop whose number of iterations is not known appends to a list of ",
                            item.item.Describe());
    return AddLeaf(key, start, end);
  }
  return in_.NotYet("a variable is ", start.item.Describe(), " before a loop and ", end.item.Describe(),
                    " after an iteration");
}

Status DynamicLoop::Finish(Node* node) {
  Builder b = in_.NewBuilder("prim::Loop");
  std::vector<Value*> outputs = {condition_};
  for (const auto& entry : leaves_)
    outputs.push_back(entry.second.output ? entry.second.output : entry.second.input);
  body_->SetOutputs(outputs);
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  int i = 0;
  for (auto& entry : leaves_) entry.second.result = node->output(i++);
  for (const auto& [name, start] : variables_) frame_.variables[name] = Replace(start, name, &Leaf::result);
  for (size_t c = 0; c < cells_.size(); ++c)
    if (Changes(CellKey(c)))
      ReplaceContents(in_, *cells_[c].first, Replace(cells_[c].second, CellKey(c), &Leaf::result));
  for (size_t r = 0; r < roots_.size(); ++r)
    TERN_TRY(in_.context.Write(*roots_[r], leaves_.at(RootKey(r)).result, b));
  return b.status();
}

}  // namespace tern::torch::script
