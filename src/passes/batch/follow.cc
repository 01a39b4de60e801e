#include "passes/batch/follow.h"

#include <algorithm>
#include <numeric>

namespace tern {
namespace {

int64_t CountOf(const Dims& dims, size_t end) {
  return std::accumulate(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(end), int64_t{1},
                         std::multiplies<>());
}

// The elements of a small integer value; nullopt unless all are known.
std::optional<std::vector<int64_t>> NumbersOf(const Value* v) {
  std::vector<int64_t> out;
  if (v->is_constant())
    for (int64_t i = 0; i < v->constant.size(); ++i) out.push_back(LoadLong(v->constant, i));
  else if (!v->content)
    return std::nullopt;
  else
    for (const Dim& d : *v->content) {
      if (!d.known()) return std::nullopt;
      out.push_back(d.value());
    }
  return out;
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

// The Reshape target with 0 (copied) and -1 (inferred) replaced by sizes; nullopt if a dim is 0.
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

// The dim of `target` that contains the batch. outer: the number of elements outer to the batch. At the
// border of two dims, either may contain it. A dim that is the batch alone is preferred, then the inner one
// unless it is the last (features), then the outer one.
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

Status CannotAdapt(const Node& node, const std::string& why) {
  return InvalidArgument(node.Describe(), " cannot take another batch size: ", why);
}

}  // namespace

bool BatchFollower::Holds(const Dim& dim) const {
  std::vector<std::string> names;
  dim.CollectSymbols(names);
  return std::find(names.begin(), names.end(), symbol_) != names.end();
}

bool BatchFollower::Holds(const Type& type) const {
  return std::any_of(type.shape.dims.begin(), type.shape.dims.end(), [&](const Dim& d) { return Holds(d); });
}

std::optional<BatchFollower::Axis> BatchFollower::AxisOf(const Shape& shape) const {
  std::optional<Axis> found;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (!Holds(shape.dims[i])) continue;
    const Dim count = shape.dims[i].Substitute({{symbol_, 1}});
    if (found || !count.known() || shape.dims[i] != count * batch()) return std::nullopt;
    found = Axis{i, count.value()};
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

std::optional<int64_t> BatchFollower::OuterCountOf(const Shape& shape) const {
  const auto axis = AxisOf(shape);
  const auto dims = OldDims(shape);
  if (!axis || !dims) return std::nullopt;
  const auto outside = outside_.find(axis->count);
  if (outside == outside_.end()) return std::nullopt;
  return CountOf(*dims, axis->index) * outside->second;
}

Status BatchFollower::AdaptReshape(Node& node) {
  const Shape& x = node.input(0)->type.shape;
  const auto axis = AxisOf(x);
  auto target = NumbersOf(node.input(1));
  if (!axis || !target || target->empty()) return {};
  const bool zero_copies = !node.attrs.Bool("allow_zero");
  if (axis->index == 0 && axis->count == 1 && zero_copies) {  // the other dims do not matter
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
  if (!wanted || !outer) return {};  // CheckKept decides
  const auto to = DimFor(*wanted, *outer, old_size_);
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
  if (!axis || !target || axis->count != 1) return {};
  const size_t behind = x.dims.size() - axis->index;  // dims are aligned at the end
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
    return CannotAdapt(node,
                       StrCat("its input ", i, " is ", type.ToString(), ", made for ", old_size_, " items"));
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
  if (!like || axis->count != 1) return {};
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
  if (!axis || axis->index != 1 || axis->count != 1) return {};
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

// Records how many elements are outer to the batch in the output of a Reshape or Flatten.
Status BatchFollower::RecordOuterCount(const Node& node) {
  if (node.op->name != "Reshape" && node.op->name != "Flatten") return {};
  const auto outer = OuterCountOf(node.input(0)->type.shape);
  const Shape& y = node.output(0)->type.shape;
  const auto axis = AxisOf(y);
  const auto dims = OldDims(y);
  if (!outer || !axis || !dims) return {};
  const int64_t before = CountOf(*dims, axis->index), outside = *outer / before;
  const bool fits = *outer % before == 0 && axis->count % std::max<int64_t>(outside, 1) == 0;
  if (fits && outside_.emplace(axis->count, outside).first->second == outside) return {};
  return CannotAdapt(node, StrCat("items would not stay together in ", node.output(0)->type.ToString()));
}

// Fails for a node with the batch in an input's type but in none of its outputs: items would be lost.
Status BatchFollower::CheckKept(const Node& node) const {
  const auto holds = [&](const Value* v) { return v && Holds(v->type); };
  const auto may_hold = [&](const Value* v) {
    const auto& dims = v->type.shape.dims;
    return !v->type.tensor() || !v->type.shape.ranked || v->content ||
           std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d.known(); });
  };
  if (std::none_of(node.inputs().begin(), node.inputs().end(), holds)) return {};
  if (node.op->name == "Shape" || node.op->name == "Size") return {};
  if (std::any_of(node.outputs().begin(), node.outputs().end(), may_hold)) return {};
  std::string types;
  for (const Value* v : node.inputs())
    if (v) types += StrCat(types.empty() ? "" : ", ", v->type.ToString());
  return CannotAdapt(node, StrCat("from ", types, " it makes ", node.output(0)->type.ToString()));
}

Status BatchFollower::Walk(Graph& graph) {
  for (const auto& owned : graph.nodes()) {
    Node& node = *owned;
    TERN_TRY(Adapt(node));
    TERN_TRY(InferNode(node));
    for (const auto& body : node.subgraphs()) TERN_TRY(Walk(*body));
    if (!node.subgraphs().empty()) TERN_TRY(InferNode(node));
    TERN_TRY(RecordOuterCount(node));
    TERN_TRY(CheckKept(node));
  }
  return {};
}

}  // namespace tern
