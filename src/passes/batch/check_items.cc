// The checks of BatchFollower. They fail if a node mixes items.
#include <algorithm>

#include "passes/batch/follow.h"
#include "passes/batch/items.h"

namespace tern {
namespace {

// An input whose elements are dims of the result, or positions along its axes.
struct DimsInput {
  std::string_view op;
  int input;
};
constexpr DimsInput kDimsInputs[] = {{"Reshape", 1}, {"Expand", 1}, {"Tile", 1},
                                     {"Slice", 1},   {"Slice", 2},  {"Resize", 3},
                                     {"Fill", 0},    {"Random", 0}, {"AffineGrid", 1}};

bool TakesDims(const Node& node, int input) {
  return std::any_of(std::begin(kDimsInputs), std::end(kDimsInputs),
                     [&](const DimsInput& d) { return d.op == node.op->name && d.input == input; });
}

// Returns the axis of the result to which element `element` of a dims input with `count` elements refers, or
// -1 if it is not known.
int DescribedAxis(const Node& node, int element, int count) {
  const std::string& op = node.op->name;
  const int rank = node.output(0)->type.shape.rank();
  if (op == "Expand") return element + rank - count;  // Expand aligns the last dims
  std::vector<int64_t> axes;
  if (op == "Resize") axes = node.attrs.Ints("axes");
  if (op == "Slice" && node.input(3)) {
    const auto list = NumbersOf(node.input(3));
    if (!list) return -1;
    axes = *list;
  }
  if (axes.empty()) return element;
  if (static_cast<size_t>(element) >= axes.size()) return -1;
  const auto axis = static_cast<int>(axes[static_cast<size_t>(element)]);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Status BatchFollower::CannotAdapt(const Node& node, const std::string& why) const {
  const char* what = adapts_ ? " does not work with another batch size: " : " may mix the items of a batch: ";
  return InvalidArgument(node.Describe(), what, why);
}

Status BatchFollower::Lost(const Node& node, const std::string& why) const {
  std::string types;
  for (const Value* v : node.inputs())
    if (v) types += StrCat(types.empty() ? "" : ", ", v->type.ToString());
  return CannotAdapt(node, StrCat("its result for ", types, " is ", node.output(0)->type.ToString(),
                                  why.empty() ? "" : "; ", why));
}

bool BatchFollower::ReadsBatch(const Value* v) const {
  return v && v->content &&
         std::any_of(v->content->begin(), v->content->end(), [&](const Dim& d) { return Holds(d); });
}

// A content of another size than the result is broadcast or reduced.
bool BatchFollower::ReadsBatch(const Value* v, size_t i, size_t count) const {
  if (!v || !v->content) return false;
  const Content& all = *v->content;
  if (all.size() == count) return Holds(all[i]);
  return ReadsBatch(v);
}

// A node may read the batch size as the dim of its result that contains the items, or to compute dims. If it
// read the batch size as data, as an index or as another dim, the results of items would depend on it.
Status BatchFollower::CheckReads(const Node& node) const {
  if (std::all_of(node.outputs().begin(), node.outputs().end(),
                  [](const Value* v) { return !v || v->content; }))
    return {};
  const auto axis = AxisOf(node.output(0)->type);
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    const Value* v = node.input(i);
    if (!ReadsBatch(v)) continue;
    const auto count = static_cast<int>(v->content->size());
    for (int e = 0; e < count; ++e) {
      if (!Holds((*v->content)[static_cast<size_t>(e)])) continue;
      if (!TakesDims(node, i) || !axis || DescribedAxis(node, e, count) != static_cast<int>(axis->index))
        return CannotAdapt(node, "its result would depend on the batch size");
    }
  }
  return {};
}

// Checks a node that computes dims. If inference has no expression for an element, this element may depend on
// the batch size, which later checks would not see.
Status BatchFollower::CheckContents(const Node& node) const {
  if (node.op->name == "Shape" || (node.op->MovesData() && node.op->name != "Where")) return {};
  const bool holds = node.op->Is(kReadsDims) && HoldsValue(node.input(0));
  for (const Value* y : node.outputs()) {
    if (!y || !y->content) continue;
    const size_t count = y->content->size();
    for (size_t i = 0; i < count; ++i) {
      if (!(*y->content)[i].unknown()) continue;
      if (holds || std::any_of(node.inputs().begin(), node.inputs().end(),
                               [&](const Value* v) { return ReadsBatch(v, i, count); }))
        return CannotAdapt(node, "its result may depend on the batch size");
    }
  }
  return {};
}

// In a batch, an item must not get other random numbers than alone, or the same numbers as another item.
Status BatchFollower::CheckRandom(const Node& node) const {
  if (adapts_) return {};
  const bool items = HoldsValue(node.output(0)), seeded = node.attrs.Bool("seeded");
  if (seeded && items) return CannotAdapt(node, "its numbers depend on the position of an item in the batch");
  if (!seeded && !items) return CannotAdapt(node, "all items would get the same random numbers");
  return {};
}

// Checks a node whose inputs contain no items. The node may repeat one value for all items, or compute dims.
Status BatchFollower::CheckMade(const Node& node) const {
  if (node.op->name == "Random") TERN_TRY(CheckRandom(node));
  const auto holds = [&](const Value* v) { return HoldsValue(v); };
  if (std::none_of(node.outputs().begin(), node.outputs().end(), holds)) return CheckReads(node);
  const Type& y = node.output(0)->type;
  const auto axis = AxisOf(y);
  if (axis && (node.op->name == "Fill" || node.op->name == "Random")) return CheckReads(node);
  if (axis && (node.op->name == "Expand" || node.op->name == "Tile")) {
    const Shape& x = node.input(0)->type.shape;
    const int at = static_cast<int>(axis->index) - (y.shape.rank() - x.rank());
    if (x.ranked && (at < 0 || x[at].Is(1))) return CheckReads(node);
  }
  return CannotAdapt(node, StrCat("it makes the items of ", y.ToString(),
                                  " itself, and may make other items than for a batch of ", old_size_));
}

Status BatchFollower::CheckOutputs(const Node& node, const std::vector<int>& axes, const Dim& count) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    const Value* v = node.outputs()[i];
    if (!v || v->unused() || (axes[i] == kNoItems && !Holds(v->type))) continue;
    if (axes[i] == kNoItems || AxisOf(v->type) != Axis{static_cast<size_t>(axes[i]), count})
      return Lost(node);
  }
  return {};
}

// Checks a state of a Loop or Scan. The input of the node, the input of the body and the output of the body
// must contain the items in the same axis.
Status BatchFollower::CheckCarried(const Node& node, int input, int body_input, int body_output) const {
  const Graph& body = *node.subgraphs()[0];
  const Type &outside = node.input(input)->type, &in = body.inputs()[static_cast<size_t>(body_input)]->type,
             &out = body.outputs()[static_cast<size_t>(body_output)]->type;
  if (!Holds(outside) && !Holds(in) && !Holds(out)) return {};
  const auto axis = AxisOf(outside);
  const bool same_rank = outside.shape.rank() == in.shape.rank() && outside.shape.rank() == out.shape.rank();
  if (same_rank && axis && AxisOf(in) == axis && AxisOf(out) == axis) return {};
  return CannotAdapt(node, StrCat("its body changes the state ", outside.ToString(), " to ", out.ToString()));
}

Status BatchFollower::CheckScannedAxes(const Node& node) const {
  const auto scanned = static_cast<int>(node.attrs.Int("scan_inputs"));
  const int states = static_cast<int>(node.inputs().size()) - scanned;
  const auto axes = node.attrs.Ints("input_axes");
  for (int i = 0; i < scanned; ++i) {
    const Type& type = node.input(states + i)->type;
    if (!Holds(type)) continue;
    const int64_t attr = axes.empty() ? 0 : axes[static_cast<size_t>(i)];
    const auto at = static_cast<size_t>(attr < 0 ? attr + type.shape.rank() : attr);
    const auto axis = AxisOf(type);
    if (!axis || axis->index == at)
      return CannotAdapt(node,
                         StrCat("it scans axis ", at, " of ", type.ToString(), ", which contains the items"));
  }
  for (int i = 0; i < states; ++i) TERN_TRY(CheckCarried(node, i, i, i));
  return {};
}

Status BatchFollower::CheckBodies(const Node& node) const {
  const std::string& op = node.op->name;
  for (const Value* v : node.inputs())
    if (ReadsBatch(v)) return CannotAdapt(node, "its result would depend on the batch size");
  if (op == "If") {
    const auto &yes = node.subgraphs()[0]->outputs(), &no = node.subgraphs()[1]->outputs();
    for (size_t i = 0; i < yes.size(); ++i)
      if ((Holds(yes[i]->type) || Holds(no[i]->type)) &&
          (!AxisOf(yes[i]->type) || AxisOf(yes[i]->type) != AxisOf(no[i]->type)))
        return CannotAdapt(
            node, StrCat("its branches return ", yes[i]->type.ToString(), " and ", no[i]->type.ToString()));
    return HoldsValue(node.input(0)) ? CannotAdapt(node, "its condition differs between items") : Status();
  }
  if (op == "Scan") return CheckScannedAxes(node);
  if (op != "Loop") return {};
  const Graph& body = *node.subgraphs()[0];
  if (HoldsValue(node.input(0)) || HoldsValue(node.input(1)) || HoldsValue(body.outputs()[0]))
    return CannotAdapt(node, "its trip count or condition differs between items");
  for (int i = 2; i < static_cast<int>(node.inputs().size()); ++i) TERN_TRY(CheckCarried(node, i, i, i - 1));
  return {};
}

// Checks result `i` of a body, which has the type `from`. If it contains items, the result of the node must
// contain them too. Otherwise the rank of one of the two is not known, and later checks would not see the
// items.
Status BatchFollower::CheckResult(const Node& node, size_t i, const Type& from) const {
  const std::string& op = node.op->name;
  const size_t first = op == "Loop" ? 1 : 0;  // the first result of a Loop's body is the condition
  if (i < first || i - first >= node.outputs().size()) return {};
  const size_t k = i - first;
  const Value* to = node.outputs()[k];
  const bool known = from.kind != Type::Kind::kUnknown && (!from.tensor() || from.shape.ranked);
  if (!to || to->unused() || (known && !Holds(from))) return {};
  const auto found = AxisOf(to->type);
  if (!known && found) return {};  // a state whose type WalkBodies has restored
  auto wanted = AxisOf(from);
  const size_t scanned = op == "Scan" ? static_cast<size_t>(node.attrs.Int("scan_inputs")) : 2;
  const size_t inputs = node.inputs().size();
  const size_t states = op != "Loop" && op != "Scan" ? node.outputs().size()
                        : inputs > scanned           ? inputs - scanned
                                                     : 0;
  if (wanted && k >= states) {  // the iterations are stacked along a new axis
    const auto axes = op == "Scan" ? node.attrs.Ints("output_axes") : std::vector<int64_t>{};
    const int64_t axis = axes.empty() ? 0 : axes[k - states];
    const auto at = static_cast<size_t>(axis < 0 ? axis + from.shape.rank() + 1 : axis);
    wanted->index += at <= wanted->index;
  }
  if (wanted && found == wanted) return {};
  return CannotAdapt(node, StrCat("its body returns ", from.ToString(), ", and its result ", k, " is ",
                                  to->type.ToString()));
}

Status BatchFollower::CheckResults(const Node& node) const {
  for (const auto& body : node.subgraphs())
    for (size_t i = 0; i < body->outputs().size(); ++i) {
      if (ReadsBatch(body->outputs()[i]))
        return CannotAdapt(node, "its result would depend on the batch size");
      TERN_TRY(CheckResult(node, i, body->outputs()[i]->type));
    }
  return {};
}

// Checks the bodies of an op for which CheckBodies has no rules, such as SequenceMap. They may read items of
// the enclosing graph.
Status BatchFollower::CheckOtherBodies(const Node& node) const {
  bool mixes = !adapts_;  // how the node calls the bodies is not checked
  for (const auto& body : node.subgraphs())
    for (const Value* v : body->outputs()) mixes |= HoldsValue(v) || ReadsBatch(v);
  if (!mixes) return {};
  return CannotAdapt(node, "its bodies are not known to process each item independently");
}

// Without the rank of an input or result, nothing is known about the items.
Status BatchFollower::CheckRanks(const Node& node) const {
  const auto open = [](const Type& t) {
    return t.kind == Type::Kind::kUnknown || (t.tensor() && !t.shape.ranked);
  };
  for (const Value* v : node.inputs())
    if (v && open(v->type)) return CannotAdapt(node, "the rank of an input is not known");
  for (const Value* v : node.outputs())
    if (v && !v->unused() && open(v->type)) return Lost(node);
  return {};
}

// Checks the bodies again after all of their nodes are adapted, because types may have changed. Checks
// nothing if inference could not find the rank of a body's input. WalkBodies has already checked the bodies
// once.
Status BatchFollower::CheckNested(const Node& node) {
  for (const auto& body : node.subgraphs()) {
    for (const Value* v : body->inputs())
      if (v->type.tensor() && !v->type.shape.ranked) return {};
    for (const auto& nested : body->nodes()) TERN_TRY(CheckItems(*nested));
  }
  return CheckBodies(node);
}

Status BatchFollower::CheckItems(const Node& node) {
  const std::string& op = node.op->name;
  if (op == "If" || op == "Loop" || op == "Scan" || op == "Fused") {
    TERN_TRY(CheckResults(node));
    return CheckNested(node);
  }
  if (!node.subgraphs().empty()) TERN_TRY(CheckOtherBodies(node));
  TERN_TRY(CheckContents(node));
  ItemQuery query{node, {}};
  std::optional<Axis> first;
  for (const Value* v : node.inputs()) {
    query.axes.push_back(kNoItems);
    if (!HoldsValue(v)) continue;
    const auto axis = AxisOf(v->type);
    if (!axis || (first && axis->count != first->count))
      return CannotAdapt(node, StrCat("its input ", v->type.ToString(), " mixes the items with other dims"));
    if (!first) first = axis;
    query.axes.back() = static_cast<int>(axis->index);
  }
  if (!first) return CheckMade(node);
  TERN_TRY(CheckRanks(node));
  SimplifyDims(node);
  TERN_TRY(CheckReads(node));
  if (node.op->Is(kView)) return FollowView(node);
  const auto axes = OutputItemAxes(query);
  if (!axes.ok()) return Lost(node, axes.status().message());
  return CheckOutputs(node, *axes, first->count);
}

}  // namespace tern
