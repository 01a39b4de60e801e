#include "passes/batch/follow.h"

#include <algorithm>
#include <numeric>

#include "passes/batch/items.h"

namespace tern {
namespace {

int64_t CountOf(const Dims& dims, size_t end) {
  return std::accumulate(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(end), int64_t{1},
                         std::multiplies<>());
}

void SetNumbers(Node& node, int input, const std::vector<int64_t>& numbers) {
  node.SetInput(input, node.graph->AddConstant(Tensor::Ints(numbers)));
}

Result<Value*> Insert(Node& before, const char* op, const std::vector<Value*>& inputs,
                      const std::vector<std::pair<std::string, int64_t>>& attrs = {}) {
  const OpDef* def = FindOp(op);
  TERN_CHECK(def, op);
  Attrs all = def->defaults;
  for (const auto& [name, value] : attrs) TERN_TRY(all.Set(name, value));
  Node* node = before.graph->AddNode(*def, std::move(all), inputs, 1, &before);
  node->name = before.name.empty() ? "" : before.name + "/batch";
  node->origin = before.origin;
  TERN_TRY(InferNode(*node));
  return node->output(0);
}

// `target` is the target of a Reshape of a tensor with dims `x`. Returns `target` with each 0 and -1 replaced
// by the dim that it stands for. Returns nullopt if a dim is 0.
std::optional<Dims> Resolved(const std::vector<int64_t>& target, const Dims& x, bool zero_copies) {
  Dims out = target;
  int64_t known = 1, inferred = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && zero_copies && i < x.size()) out[i] = x[i];
    if (out[i] == 0) return std::nullopt;
    if (out[i] < 0)
      inferred = static_cast<int64_t>(i);
    else
      known *= out[i];
  }
  if (inferred >= 0) out[static_cast<size_t>(inferred)] = CountOf(x, x.size()) / known;
  return out;
}

// Returns the index of the dim of `target` that contains the batch, or nullopt if no dim can contain it.
// `outer` is the product of the dims outer to the batch (see OuterCountOf). If several dims are possible,
// prefers a dim that is only the batch. The second choice is a dim whose outermost factor is the batch,
// except the last dim, which has the features. The third choice is a dim whose innermost factor is the batch.
std::optional<size_t> DimFor(const Dims& target, int64_t outer, int64_t old_size) {
  std::optional<size_t> best;
  int least = 4;
  int64_t before = 1;
  for (size_t i = 0; i < target.size() && before <= outer; before *= target[i++]) {
    if (outer % before || target[i] % (outer / before * old_size)) continue;
    const int64_t outside = outer / before, inside = target[i] / outside / old_size;
    const bool last = i + 1 == target.size();
    const int rank = target[i] == old_size && outside == 1 ? 0
                     : outside == 1 && !last               ? 1
                     : inside == 1                         ? 2
                                                           : 3;
    if (rank >= least) continue;
    least = rank;
    best = i;
  }
  return best;
}

}  // namespace

BatchFollower::BatchFollower(std::string symbol)
    : symbol_(std::move(symbol)), adapts_(false), old_size_(1), sizes_{1, 2, 3, 4, 8, 64, 1000} {}

bool BatchFollower::Holds(const Dim& dim) const {
  std::vector<std::string> names;
  dim.CollectSymbols(names);
  return std::find(names.begin(), names.end(), symbol_) != names.end();
}

bool BatchFollower::Holds(const Type& type) const {
  if (type.element) return Holds(*type.element);
  return std::any_of(type.shape.dims.begin(), type.shape.dims.end(), [&](const Dim& d) { return Holds(d); });
}

std::optional<BatchFollower::Axis> BatchFollower::AxisOf(const Type& type) const {
  return type.element ? AxisOf(*type.element) : AxisOf(type.shape);
}

std::optional<BatchFollower::Axis> BatchFollower::AxisOf(const Shape& shape) const {
  std::optional<Axis> found;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (!Holds(shape.dims[i])) continue;
    const Dim count = shape.dims[i].Substitute({{symbol_, 1}});
    if (found || shape.dims[i] != count * batch()) return std::nullopt;
    found = Axis{i, count};
  }
  return found;
}

std::optional<Dims> BatchFollower::OldDims(const Shape& shape) const {
  Dims dims;
  for (const Dim& d : shape.dims) {
    const Dim old = d.Substitute({{symbol_, old_size_}});
    if (!old.known() || old.Is(0)) return std::nullopt;
    dims.push_back(old.value());
  }
  return dims;
}

Dim BatchFollower::CountBefore(const Shape& shape, size_t end) const {
  Dim count = 1;
  for (size_t i = 0; i < end; ++i) count = count * shape.dims[i];
  return count;
}

std::optional<Dim> BatchFollower::OuterCountOf(const Shape& shape) const {
  const auto axis = AxisOf(shape);
  if (!axis) return std::nullopt;
  const auto outside = outside_.find(axis->count.ToString());
  if (outside == outside_.end()) return std::nullopt;
  const Dim outer = CountBefore(shape, axis->index) * outside->second;
  return outer.unknown() ? std::nullopt : std::optional(outer);
}

Status BatchFollower::AdaptReshape(Node& node) {
  const Shape& x = node.input(0)->type.shape;
  const auto axis = AxisOf(x);
  auto target = NumbersOf(node.input(1));
  if (!axis || !target || target->empty()) return {};
  const bool zero_copies = !node.attrs.Bool("allow_zero");
  if (axis->index == 0 && axis->count.Is(1) && zero_copies) {  // a target dim of 0 copies the batch
    const int64_t first = (*target)[0];
    if (first == 0) return {};
    if (first == old_size_) {
      (*target)[0] = 0;
      SetNumbers(node, 1, *target);
      return {};
    }
  }
  const auto dims = OldDims(x);
  const auto outer = OuterCountOf(x);
  auto wanted = dims ? Resolved(*target, *dims, zero_copies) : std::nullopt;
  if (!wanted || !outer || !outer->known()) return {};  // FollowView checks the result
  const auto to = DimFor(*wanted, outer->value(), old_size_);
  if (!to) return {};
  if ((*target)[*to] == -1) return {};
  (*wanted)[*to] = -1;
  SetNumbers(node, 1, *wanted);
  return {};
}

Status BatchFollower::AdaptExpand(Node& node) {
  const Shape& x = node.input(0)->type.shape;
  auto target = NumbersOf(node.input(1));
  const auto axis = AxisOf(x);
  if (!axis || !target || !axis->count.Is(1)) return {};
  const size_t behind = x.dims.size() - axis->index;  // Expand aligns the last dims
  if (behind > target->size()) return {};
  int64_t& size = (*target)[target->size() - behind];
  if (size != old_size_ || size == 1) return {};
  size = 1;
  SetNumbers(node, 1, *target);
  return {};
}

Status BatchFollower::Repeat(Node& node, int i, int axis, Value* like, int like_axis) {
  const Type type = node.input(i)->type;
  if (old_size_ != 1)
    return CannotAdapt(node, StrCat("its input ", i, " is ", type.ToString(), ", which contains data for ",
                                    old_size_, " items"));
  TERN_ASSIGN(Value * items, Insert(node, "Shape", {like}, {{"start", like_axis}, {"end", like_axis + 1}}));
  const auto ones = [&](int count) {
    return node.graph->AddConstant(Tensor::Ints(std::vector<int64_t>(static_cast<size_t>(count), 1)));
  };
  const int behind = type.shape.rank() - axis - 1;
  TERN_ASSIGN(Value * shape, Insert(node, "Concat", {ones(axis), items, ones(behind)}, {{"axis", 0}}));
  TERN_ASSIGN(Value * repeated, Insert(node, "Expand", {node.input(i), shape}));
  node.SetInput(i, repeated);
  return {};
}

Status BatchFollower::AdaptConcat(Node& node) {
  Value* like = nullptr;
  std::optional<Axis> axis;
  for (Value* v : node.inputs()) {
    if (!v || like) continue;
    if ((axis = AxisOf(v->type.shape))) like = v;
  }
  if (!like || !axis->count.Is(1)) return {};
  const int rank = like->type.shape.rank(), at = static_cast<int>(axis->index);
  const int64_t joined = node.attrs.Int("axis");
  if ((joined < 0 ? joined + rank : joined) == at) return {};
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    const Shape& shape = node.input(i)->type.shape;
    if (shape.rank() == rank && shape[at].Is(old_size_)) TERN_TRY(Repeat(node, i, at, like, at));
  }
  return {};
}

Status BatchFollower::AdaptRnn(Node& node) {
  Value* x = node.input(0);
  const auto axis = AxisOf(x->type.shape);
  if (!axis || axis->index != 1 || !axis->count.Is(1)) return {};
  const std::pair<const char*, int> states[] = {{"sequence_lens", 0}, {"initial_h", 1}, {"initial_c", 1}};
  for (const auto& [port, at] : states) {
    const int i = node.op->InputIndex(port);
    const Value* v = node.input(i);
    if (v && v->type.shape.rank() > at && v->type.shape[at].Is(old_size_))
      TERN_TRY(Repeat(node, i, at, x, 1));
  }
  return {};
}

Status BatchFollower::Adapt(Node& node) {
  static const std::map<std::string_view, Status (BatchFollower::*)(Node&)> rules = {
      {"Reshape", &BatchFollower::AdaptReshape},
      {"Expand", &BatchFollower::AdaptExpand},
      {"Concat", &BatchFollower::AdaptConcat},
      {"Rnn", &BatchFollower::AdaptRnn},
  };
  const auto rule = rules.find(node.op->name);
  return rule == rules.end() ? Status() : (this->*rule->second)(node);
}

// Simplifies dims of the result that inference leaves as expressions of the batch:
// - If a Slice keeps all items, its dim min(1000000000, batch) becomes batch.
// - If a Reshape keeps the batch as dim 0, one other dim may be such an expression. This dim is a quotient of
//   element counts, which does not depend on the batch.
void BatchFollower::SimplifyDims(const Node& node) const {
  if (node.op->name != "Slice" && node.op->name != "Reshape") return;
  const auto axis = AxisOf(node.input(0)->type);
  std::vector<Dim>& y = node.output(0)->type.shape.dims;
  if (!axis || axis->index >= y.size()) return;
  if (node.op->name == "Slice") {
    Dim& d = y[axis->index];
    const Dim& x = node.input(0)->type.shape.dims[axis->index];
    const auto same = [&](int64_t n) { return d.Substitute({{symbol_, n}}) == x.Substitute({{symbol_, n}}); };
    if (std::all_of(sizes_.begin(), sizes_.end(), same)) d = x;
    return;
  }
  if (axis->index != 0 || !axis->count.Is(1) || y[0] != batch()) return;
  const auto holds = [&](const Dim& d) { return Holds(d); };
  if (std::count_if(y.begin() + 1, y.end(), holds) != 1) return;
  Dim& d = *std::find_if(y.begin() + 1, y.end(), holds);
  d = d.Substitute({{symbol_, 1}});
}

// Checks that a view keeps the elements of each item together. Records the outer factor of the result's batch
// dim in outside_.
Status BatchFollower::FollowView(const Node& node) {
  const Type &x = node.input(0)->type, &y = node.output(0)->type;
  const auto from = AxisOf(x), to = AxisOf(y);
  const auto outer = x.tensor() ? OuterCountOf(x.shape) : std::nullopt;
  if (!from || !to) return Lost(node);
  if (x == y || (from->index == 0 && to->index == 0 && from->count.Is(1) && to->count.Is(1))) return {};
  const Status mixed =
      CannotAdapt(node, StrCat("items would not stay together from ", x.ToString(), " to ", y.ToString()));
  if (!outer) return mixed;
  const Dim before = CountBefore(y.shape, to->index);
  Dim outside = 1;
  if (before != *outer) {
    if (!before.known() || !outer->known() || !to->count.known() || before.Is(0)) return mixed;
    outside = outer->value() / before.value();
    if (outside * before != *outer || to->count.value() % outside.value()) return mixed;
  }
  return outside_.emplace(to->count.ToString(), outside).first->second == outside ? Status() : mixed;
}

// Walks the bodies of a node and infers its result types. Inference may not find the ranks of the results of
// nested loops. If the body of a Loop does not change the type of a state, this type becomes the type of the
// result.
Status BatchFollower::WalkBodies(Node& node) {
  const bool loop = node.op->name == "Loop";
  const auto body_input = [&](int i) { return node.subgraphs()[0]->inputs()[static_cast<size_t>(i)]; };
  const int inputs = loop ? static_cast<int>(node.inputs().size()) : 0;
  for (int i = 2; i < inputs; ++i) RefineType(body_input(i)->type, node.input(i)->type);
  for (const auto& body : node.subgraphs()) TERN_TRY(Walk(*body));
  TERN_TRY(CheckBodies(node));
  std::vector<Type> results;
  for (int i = 2; i < inputs; ++i) {
    const Type& out = node.subgraphs()[0]->outputs()[static_cast<size_t>(i - 1)]->type;
    results.push_back(out == node.input(i)->type ? out : Type());
  }
  TERN_TRY(InferNode(node));
  for (size_t i = 0; i < std::min(results.size(), node.outputs().size()); ++i)
    if (Value* v = node.outputs()[i]; v && results[i].tensor() && !v->type.shape.ranked) v->type = results[i];
  return {};
}

Status BatchFollower::Walk(Graph& graph) {
  for (const auto& owned : graph.nodes()) {
    Node& node = *owned;
    if (adapts_) TERN_TRY(Adapt(node));
    TERN_TRY(InferNode(node));
    if (!node.subgraphs().empty()) TERN_TRY(WalkBodies(node));
    TERN_TRY(CheckItems(node));
  }
  return {};
}

}  // namespace tern
