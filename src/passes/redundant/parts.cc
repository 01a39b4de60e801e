#include "passes/redundant/parts.h"

#include <algorithm>

namespace tern {
namespace {

std::optional<Part> ReadSlicePart(const Node& slice) {
  const auto axes = ReadSlice(slice);
  Value* x = slice.input(0);
  if (!axes || axes->size() != 1 || axes->front().step != 1) return std::nullopt;
  const SliceAxis& s = axes->front();
  const Dim& dim = x->type.shape[s.axis];
  if (!dim.known()) return std::nullopt;
  const auto clamp = [&](int64_t v) {
    return v < 0 ? std::max<int64_t>(0, v < -dim.value() ? 0 : v + dim.value()) : std::min(v, dim.value());
  };
  const Part part{x, s.axis, clamp(s.start), clamp(s.end)};
  return part.start < part.end ? std::optional(part) : std::nullopt;
}

std::optional<Part> ReadSplitPart(const Node& split, int output) {
  const auto axis = AxisOf(split.attrs.Int("axis"), split.input(0));
  if (!axis) return std::nullopt;
  const auto& outputs = split.outputs();
  const auto sizes = SizesAlong({outputs.begin(), outputs.begin() + output + 1}, *axis);
  if (!sizes) return std::nullopt;
  Part part{split.input(0), *axis, 0, 0};
  for (int64_t size : *sizes) {
    part.start = part.end;
    part.end += size;
  }
  return part;
}

}  // namespace

std::optional<std::vector<SliceAxis>> ReadSlice(const Node& slice) {
  const auto starts = IntsOf(slice.input(1)), ends = IntsOf(slice.input(2));
  const auto axes = IntsOf(slice.input(3)), steps = IntsOf(slice.input(4));
  if (!starts || !ends || (slice.input(3) && !axes) || (slice.input(4) && !steps)) return std::nullopt;
  std::vector<SliceAxis> out;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = AxisOf(axes ? (*axes)[i] : static_cast<int64_t>(i), slice.input(0));
    if (!axis) return std::nullopt;
    out.push_back({*axis, (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1});
  }
  return out;
}

Value* EmitSlice(Rewrite& rewrite, Value* x, const std::vector<SliceAxis>& list) {
  std::vector<int64_t> starts, ends, axes, steps;
  for (const SliceAxis& s : list) {
    starts.push_back(s.start), ends.push_back(s.end);
    axes.push_back(s.axis), steps.push_back(s.step);
  }
  std::vector<Value*> inputs = {x, rewrite.Ints(starts), rewrite.Ints(ends), rewrite.Ints(axes)};
  if (std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; }))
    inputs.push_back(rewrite.Ints(steps));
  return rewrite.Op("Slice", inputs);
}

bool Part::CoversAll() const { return start == 0 && x->type.shape[axis].Is(end); }

std::optional<Part> ReadPart(const Value* v) {
  if (const Node* slice = MadeBy(v, "Slice")) return ReadSlicePart(*slice);
  if (const Node* split = MadeBy(v, "Split")) return ReadSplitPart(*split, v->output);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> SizesAlong(const std::vector<Value*>& values, int axis) {
  std::vector<int64_t> sizes;
  for (const Value* v : values) {
    if (!v->type.shape.ranked || !v->type.shape[axis].known()) return std::nullopt;
    sizes.push_back(v->type.shape[axis].value());
  }
  return sizes;
}

}  // namespace tern
