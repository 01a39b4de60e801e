// Removes Slices of all elements, merges two Slices into one, and makes known bounds constant.
#include <algorithm>

#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool StepsAreOne(const Value* steps) {
  if (!steps) return true;
  const auto content = ContentOf(steps);
  return content && std::all_of(content->begin(), content->end(), [](const Dim& d) { return d.Is(1); });
}

// True if the result of the Slice is its whole input.
bool TakesAll(const Match& m) {
  if (!StepsAreOne(m.At("steps"))) return m.Skip("the steps are not known to be 1");
  return SameType(m.At("x"), m.At("y")) || m.Skip("the Slice may not take all elements");
}

bool Small(int64_t v) { return v > -kFarBound && v < kFarBound; }

// Returns a range that equals x[a.start:a.end][b.start:b.end] for every size of x, or nullopt if there is
// none.
std::optional<SliceAxis> MergeOpen(const SliceAxis& a, const SliceAxis& b) {
  if (a.step != 1 || b.step != 1 || a.start < 0 || b.start < 0 || !Small(a.start) || !Small(b.start))
    return std::nullopt;
  SliceAxis joined{a.axis, a.start + b.start, 0, 1};
  if (b.end >= kFarBound)
    joined.end = a.end;
  else if (a.end >= kFarBound)
    joined.end = b.end < 0 ? b.end : a.start + b.end;
  else if (a.end >= 0 && b.end >= 0)
    joined.end = std::min(a.end, a.start + b.end);
  else
    return std::nullopt;
  return joined;
}

// Returns the first index and the number of elements of the range `s` in a dim of size n.
std::pair<int64_t, int64_t> RangeOf(const SliceAxis& s, int64_t n) {
  const auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? std::max(v, -n) + n : v, 0, n); };
  const int64_t start = clamp(s.start), end = clamp(s.end);
  return {start, end > start ? (end - start - 1) / s.step + 1 : 0};
}

std::optional<SliceAxis> MergeAxis(const SliceAxis& a, const SliceAxis& b, const Dim& dim) {
  if (!dim.known() || a.step < 1 || b.step < 1 || !Small(a.step) || !Small(b.step)) return MergeOpen(a, b);
  const auto [first, count] = RangeOf(a, dim.value());
  const auto [second, remaining] = RangeOf(b, count);
  SliceAxis joined{a.axis, 0, 0, a.step * b.step};
  if (remaining == 0) return joined;
  joined.start = first + second * a.step;
  joined.end = std::min(dim.value(), joined.start + (remaining - 1) * joined.step + 1);
  return joined;
}

bool MergeSlices(Rewrite& r) {
  const Node* first = MadeBy(r.root().input(0), "Slice");
  if (!first) return r.Skip("its input is not made by a Slice");
  if (!OnlyUse(first->output(0))) return r.Skip("the first Slice is also read by another node");
  const auto a = ReadSlice(*first), b = ReadSlice(r.root());
  if (!a || !b) return r.Skip("the bounds are not constant");
  std::vector<SliceAxis> joined = *a;
  for (const SliceAxis& s : *b) {
    const auto same =
        std::find_if(joined.begin(), joined.end(), [&](const auto& o) { return o.axis == s.axis; });
    if (same == joined.end()) {
      joined.push_back(s);
      continue;
    }
    const auto merged = MergeAxis(*same, s, first->input(0)->type.shape[s.axis]);
    if (!merged) return r.Skip("the ranges along axis ", s.axis, " cannot be merged for every size");
    *same = *merged;
  }
  return r.Replace(EmitSlice(r, first->input(0), joined));
}

// Returns `end` if it is a number, or kToTheEnd if it equals the symbolic size `dim`. Otherwise returns
// nullopt.
std::optional<int64_t> FixedEnd(const Dim& end, const Dim& dim) {
  if (end.known()) return end.value();
  return end == dim ? std::optional(kToTheEnd) : std::nullopt;
}

bool FixSliceBounds(Rewrite& r) {
  const Node& node = r.root();
  if (ReadSlice(node)) return r.Skip("the bounds are constant already");
  const auto starts = ContentOf(node.input(1)), ends = ContentOf(node.input(2));
  const auto axes = IntsOf(node.input(3));
  if (!starts || !ends || (node.input(3) && !axes) || !StepsAreOne(node.input(4)))
    return r.Skip("the bounds are not known");
  std::vector<SliceAxis> fixed;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = AxisOf(axes ? (*axes)[i] : static_cast<int64_t>(i), node.input(0));
    if (!axis) return r.Skip("the rank is not known");
    const auto end = FixedEnd((*ends)[i], node.input(0)->type.shape[*axis]);
    if (!(*starts)[i].known() || !end) return r.Skip("a bound along axis ", *axis, " is not known");
    fixed.push_back({*axis, (*starts)[i].value(), *end, 1});
  }
  return r.Replace(EmitSlice(r, node.input(0), fixed));
}

}  // namespace

TERN_RULE(RemoveFullSlice) {
  return Rule{.summary = "a Slice that takes all of its input is removed",
              .match = {"%y = Slice(%x, %starts, %ends, %axes?, %steps?)"},
              .emit = "%y = %x",
              .when = TakesAll};
}

TERN_RULE(MergeSlices) {
  return Rule{.summary = "a Slice of a Slice is one Slice",
              .roots = {"Slice"},
              .apply = MergeSlices,
              .example = R"(graph @g(%x: f32[N,8,8]) -> (%y) {
  #one: i64[1] = (1)  #two: i64[1] = (2)  #five: i64[1] = (5)
  %y = Slice(Slice(%x, #one, #five, #one), #one, #five, #two)
})"};
}

TERN_RULE(FixSliceBounds) {
  return Rule{.summary =
                  "a Slice whose computed bounds are known gets constant bounds; an end equal to the "
                  "size of the dim becomes the largest integer",
              .roots = {"Slice"},
              .apply = FixSliceBounds,
              .example = R"(graph @g(%x: f32[N,S]) -> (%y) {
  #one: i64[1] = (1)
  %y = Slice(%x, #one, Shape(%x) {start=1, end=2}, #one)
})"};
}

}  // namespace tern
