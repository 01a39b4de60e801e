// The checks of BatchFollower. They fail if a node mixes items.
#include <algorithm>

#include "passes/batch/follow.h"
#include "passes/batch/items.h"

namespace tern {

Status BatchFollower::CannotAdapt(const Node& node, const std::string& why) {
  return InvalidArgument(node.Describe(), " does not work with another batch size: ", why);
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

// A node may read the batch size as a part of a target shape. If it read the batch size as data or as an
// index, the results of items would change.
Status BatchFollower::CheckReads(const Node& node) const {
  constexpr std::string_view kTakesDims[] = {"Reshape", "Expand", "Tile",   "Slice",     "Pad",
                                             "Resize",  "Split",  "Random", "AffineGrid"};
  if (std::none_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return ReadsBatch(v); }))
    return {};
  if (std::find(std::begin(kTakesDims), std::end(kTakesDims), node.op->name) != std::end(kTakesDims))
    return {};
  return CannotAdapt(node, "its result would depend on the batch size");
}

// Checks a node whose inputs contain no items. The node may repeat one value for all items, or compute dims.
Status BatchFollower::CheckMade(const Node& node) const {
  const auto holds = [&](const Value* v) { return HoldsValue(v); };
  if (std::none_of(node.outputs().begin(), node.outputs().end(), holds)) {
    const bool dims = std::all_of(node.outputs().begin(), node.outputs().end(),
                                  [](const Value* v) { return !v || v->content; });
    return dims ? Status() : CheckReads(node);
  }
  const Type& y = node.output(0)->type;
  const auto axis = AxisOf(y);
  if (axis && (node.op->name == "Fill" || node.op->name == "Random")) return {};
  if (axis && (node.op->name == "Expand" || node.op->name == "Tile")) {
    const Shape& x = node.input(0)->type.shape;
    const int at = static_cast<int>(axis->index) - (y.shape.rank() - x.rank());
    if (x.ranked && (at < 0 || x[at].Is(1))) return {};
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
  if (axis && AxisOf(in) == axis && AxisOf(out) == axis) return {};
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
  if (op == "If" || op == "Loop" || op == "Scan" || op == "Fused") return CheckNested(node);
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
  TERN_TRY(CheckReads(node));
  SimplifyDims(node);
  if (node.op->Is(kView)) return FollowView(node);
  const auto axes = OutputItemAxes(query);
  if (!axes.ok()) return Lost(node, axes.status().message());
  return CheckOutputs(node, *axes, first->count);
}

}  // namespace tern
