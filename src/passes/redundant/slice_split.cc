// Chooses the cheapest op that copies parts of a tensor. A Slice copies one part, a Split copies all parts,
// and a Gather remains only for irregular indices.
#include <algorithm>

#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

bool SplitToSlice(Rewrite& r) {
  const Node& split = r.root();
  const Value* read_output = nullptr;
  for (const Value* v : split.outputs()) {
    if (v->unused()) continue;
    if (read_output) return r.Skip("several outputs are read");
    read_output = v;
  }
  const auto part = ReadPart(read_output);
  if (!part || part->CoversAll() || part->start == part->end)
    return r.Skip("the sizes are not known, or the part covers all");
  std::vector<Value*> values(split.outputs().size());
  values[static_cast<size_t>(read_output->output)] =
      EmitSlice(r, part->x, {{part->axis, part->start, part->end, 1}});
  return r.Replace(values);
}

bool FirstInGraph(const Node& node, const std::vector<std::pair<Part, Value*>>& others) {
  for (const auto& n : node.graph->nodes()) {
    if (n.get() == &node) return true;
    for (const auto& [part, v] : others)
      if (v->producer == n.get()) return false;
  }
  return false;
}

// Returns all Slices of root.x along root.axis, sorted by start.
std::vector<std::pair<Part, Value*>> SlicesOf(const Part& root, const Graph& graph) {
  std::vector<std::pair<Part, Value*>> slices;
  for (const auto& [reader, input] : root.x->uses) {
    if (input != 0 || !IsOp(*reader, "Slice") || reader->graph != &graph) continue;
    const auto part = ReadPart(reader->output(0));
    if (part && part->axis == root.axis && !reader->output(0)->unused())
      slices.emplace_back(*part, reader->output(0));
  }
  std::sort(slices.begin(), slices.end(),
            [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  return slices;
}

// The rule does not fire if the input has more readers, because it visits all readers of the input at each
// Slice.
constexpr size_t kMaxReaders = 256;

bool SlicesToSplit(Rewrite& r) {
  const auto root = ReadPart(r.root().output(0));
  if (!root) return r.Skip("the range is not constant along one axis");
  if (root->x->uses.size() > kMaxReaders) return r.Skip("'", root->x->name, "' has too many readers");
  const auto slices = SlicesOf(*root, r.graph());
  int64_t at = 0;
  std::vector<int64_t> sizes;
  for (const auto& [part, v] : slices) {
    if (part.start != at) return r.Skip("the Slices of its input overlap or leave gaps");
    sizes.push_back(part.end - part.start);
    at = part.end;
  }
  if (slices.size() < 2 || !root->x->type.shape[root->axis].Is(at))
    return r.Skip("the Slices of its input overlap or leave gaps");
  if (!FirstInGraph(r.root(), slices)) return r.Skip("another Slice of the same input comes first");
  const Attrs attrs = WithAttrs(FindOp("Split")->defaults, {{"axis", int64_t{root->axis}}});
  const auto parts =
      r.Ops(*FindOp("Split"), attrs, {root->x, r.Ints(sizes)}, static_cast<int>(slices.size()));
  std::vector<std::pair<Value*, Value*>> pairs;
  for (size_t i = 0; i < slices.size(); ++i) pairs.emplace_back(slices[i].second, parts[i]);
  return r.ReplaceValues(pairs);
}

bool GatherToSlice(Rewrite& r) {
  const Node& node = r.root();
  Value *x = node.input(0), *indices = node.input(1);
  const auto list = IntsOf(indices);
  if (!list || indices->constant.rank() != 1 || list->empty())
    return r.Skip("the indices are not a constant vector");
  const auto axis = AxisOf(node.attrs.Int("axis"), x);
  if (!axis || !x->type.shape[*axis].known()) return r.Skip("the size of the axis is not known");
  const int64_t dim = x->type.shape[*axis].value();
  const auto index = [&](size_t i) { return (*list)[i] < 0 ? (*list)[i] + dim : (*list)[i]; };
  const int64_t step = list->size() > 1 ? index(1) - index(0) : 1;
  if (step < 1) return r.Skip("the indices are not ascending");
  for (size_t i = 0; i < list->size(); ++i)
    if (index(i) != index(0) + static_cast<int64_t>(i) * step || index(i) < 0 || index(i) >= dim)
      return r.Skip("the indices are not evenly spaced");
  return r.Replace(EmitSlice(r, x, {{*axis, index(0), index(list->size() - 1) + 1, step}}));
}

}  // namespace

TERN_RULE(ReplaceSplitBySlice) {
  return Rule{.summary = "a Split of which only one output is read is a Slice",
              .roots = {"Split"},
              .apply = SplitToSlice,
              .example = R"(graph @g(%x: f32[N,6]) -> (%y) {
  %a, %b = Split(%x) {axis=1}
  %y = Relu(%b)
})"};
}

TERN_RULE(ReplaceSlicesBySplit) {
  return Rule{.summary = "Slices that together cover a tensor are one Split",
              .roots = {"Slice"},
              .apply = SlicesToSplit,
              .example = R"(graph @g(%x: f32[N,6]) -> (%a, %b) {
  #zero: i64[1] = (0)  #two: i64[1] = (2)  #six: i64[1] = (6)  #axis: i64[1] = (1)
  %a = Slice(%x, #zero, #two, #axis)
  %b = Slice(%x, #two, #six, #axis)
})"};
}

TERN_RULE(ReplaceGatherBySlice) {
  return Rule{.summary = "a Gather of evenly spaced constant indices is a Slice",
              .roots = {"Gather"},
              .apply = GatherToSlice,
              .example = R"(graph @g(%x: f32[N,6]) -> (%y) {
  #list: i64[3] = (1, 3, 5)
  %y = Gather(%x, #list) {axis=1}
})"};
}

}  // namespace tern
