// Simplifies Concat before or after Slice and Split.
#include <algorithm>

#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

Value* EmitConcat(Rewrite& r, const std::vector<Value*>& inputs) {
  if (inputs.size() == 1) return inputs[0];
  return r.Op(*FindOp("Concat"), r.root().attrs, inputs);
}

bool FlattenConcat(Rewrite& r) {
  const auto axis = AxisOf(r.root().attrs.Int("axis"), r.root().output(0));
  std::vector<Value*> inputs;
  bool changed = false;
  for (Value* v : r.root().inputs()) {
    const Node* inner = MadeBy(v, "Concat");
    if (inner && axis && OnlyUse(v) && AxisOf(inner->attrs.Int("axis"), v) == axis) {
      inputs.insert(inputs.end(), inner->inputs().begin(), inner->inputs().end());
      changed = true;
    } else {
      inputs.push_back(v);
    }
  }
  if (!changed) return r.Skip("no input is a Concat along the same axis that only this node reads");
  return r.Replace(EmitConcat(r, inputs));
}

bool RemoveEmptyFromConcat(Rewrite& r) {
  const auto axis = AxisOf(r.root().attrs.Int("axis"), r.root().output(0));
  std::vector<Value*> inputs;
  for (Value* v : r.root().inputs()) {
    const Shape& s = v->type.shape;
    if (!(axis && s.rank() > *axis && s[*axis].Is(0))) inputs.push_back(v);
  }
  if (inputs.empty() || inputs.size() == r.root().inputs().size())
    return r.Skip("no input is known to be empty");
  return r.Replace(EmitConcat(r, inputs));
}

// If `inputs` contains, from index `first` on, the outputs of a Split along `axis`, complete and in order,
// returns the number of outputs. Otherwise returns 0.
size_t AllSplitOutputs(const std::vector<Value*>& inputs, size_t first, int axis) {
  const Node* split = MadeBy(inputs[first], "Split");
  if (!split || AxisOf(split->attrs.Int("axis"), split->input(0)) != axis) return 0;
  const auto& outputs = split->outputs();
  const auto sizes = ContentOf(split->input(1));
  if (split->input(1) ? !sizes || sizes->size() != outputs.size()
                      : split->attrs.Int("num_outputs") > static_cast<int64_t>(outputs.size()))
    return 0;
  if (inputs.size() - first < outputs.size()) return 0;
  return std::equal(outputs.begin(), outputs.end(), inputs.begin() + static_cast<long>(first))
             ? outputs.size()
             : 0;
}

// Consecutive inputs of a Concat that are consecutive parts of one tensor.
struct Run {
  Part part;
  size_t count = 0;
  bool own = true;  // true if all values of the run are Slices without other readers
};

// Returns the longest run that starts at input `first`. Its count is 0 if this input is not a part of a
// tensor along `axis`.
Run ReadRun(const std::vector<Value*>& inputs, size_t first, int axis) {
  const auto head = ReadPart(inputs[first]);
  if (!head || head->axis != axis) return {};
  Run run{*head, 1, OnlyUse(inputs[first]) && MadeBy(inputs[first], "Slice")};
  for (; first + run.count < inputs.size(); ++run.count) {
    Value* v = inputs[first + run.count];
    const auto next = ReadPart(v);
    if (!next || next->x != run.part.x || next->axis != axis || next->start != run.part.end) break;
    run.part.end = next->end;
    run.own &= OnlyUse(v) && MadeBy(v, "Slice");
  }
  return run;
}

bool MergeConcatParts(Rewrite& r) {
  const auto& inputs = r.root().inputs();
  const auto axis = AxisOf(r.root().attrs.Int("axis"), r.root().output(0));
  if (!axis) return r.Skip("the rank is not known");
  std::vector<Value*> merged;
  for (size_t i = 0; i < inputs.size();) {
    if (const size_t outputs = AllSplitOutputs(inputs, i, *axis)) {
      merged.push_back(inputs[i]->producer->input(0));
      i += outputs;
      continue;
    }
    const Run run = ReadRun(inputs, i, *axis);
    // Emits a new Slice only if it replaces at least one node.
    const bool pays = run.part.x && (run.part.CoversAll() || run.own || run.count == inputs.size());
    if (run.count > 1 && pays) {
      merged.push_back(run.part.CoversAll()
                           ? run.part.x
                           : EmitSlice(r, run.part.x, {{*axis, run.part.start, run.part.end, 1}}));
      i += run.count;
    } else {
      merged.push_back(inputs[i++]);
    }
  }
  if (merged.size() == inputs.size()) return r.Skip("no adjacent inputs are adjacent parts of one tensor");
  return r.Replace(EmitConcat(r, merged));
}

// The inputs of a Concat that overlap a range. Together these inputs are the range [start, end) of the
// result.
struct Cover {
  std::vector<Value*> inputs;
  int64_t start = 0, end = 0;
};

Cover CoverOf(const Node& concat, const std::vector<int64_t>& sizes, const Part& wanted) {
  Cover cover;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); at += sizes[i++]) {
    if (at + sizes[i] <= wanted.start || at >= wanted.end) continue;
    if (cover.inputs.empty()) cover.start = at;
    cover.inputs.push_back(concat.inputs()[i]);
    cover.end = at + sizes[i];
  }
  return cover;
}

bool SliceOfConcat(Rewrite& r) {
  Value* y = r.root().output(0);
  const Node* concat = MadeBy(r.root().input(0), "Concat");
  if (!concat) return r.Skip("its input is not made by a Concat");
  const auto part = ReadPart(y);
  if (!part) return r.Skip("the range is not constant along one axis");
  const auto sizes = SizesAlong(concat->inputs(), part->axis);
  if (AxisOf(concat->attrs.Int("axis"), part->x) != part->axis || !sizes)
    return r.Skip("the axes differ, or sizes are not known");
  const Cover cover = CoverOf(*concat, *sizes, *part);
  const bool exact = cover.start == part->start && cover.end == part->end;
  if (cover.inputs.size() != 1 && !(exact && OnlyUse(part->x)))
    return r.Skip("the range overlaps several inputs");
  Value* x = cover.inputs.size() == 1 ? cover.inputs[0] : r.Op(*concat->op, concat->attrs, cover.inputs);
  if (!exact) x = EmitSlice(r, x, {{part->axis, part->start - cover.start, part->end - cover.start, 1}});
  return r.Replace(x);
}

bool SplitOfConcat(Rewrite& r) {
  const Node& split = r.root();
  const Node* concat = MadeBy(split.input(0), "Concat");
  if (!concat) return r.Skip("its input is not made by a Concat");
  const auto axis = AxisOf(split.attrs.Int("axis"), split.input(0));
  if (!axis || AxisOf(concat->attrs.Int("axis"), split.input(0)) != axis) return r.Skip("the axes differ");
  if (concat->inputs().size() != split.outputs().size())
    return r.Skip("the numbers of outputs and of Concat inputs differ");
  for (size_t i = 0; i < split.outputs().size(); ++i)
    if (!SameShape(split.outputs()[i], concat->inputs()[i]))
      return r.Skip("output ", i, " may have another size than the Concat input");
  return r.Replace(concat->inputs());
}

}  // namespace

TERN_RULE(FlattenConcat) {
  return Rule{.summary = "a Concat of a Concat along the same axis is one Concat",
              .roots = {"Concat"},
              .apply = FlattenConcat,
              .example = R"(graph @g(%a: f32[N,2], %b: f32[N,3]) -> (%y) {
  %y = Concat(%a, Concat(%b, %a) {axis=1}) {axis=-1}
})"};
}

TERN_RULE(RemoveEmptyFromConcat) {
  return Rule{.summary = "empty inputs of a Concat are removed",
              .roots = {"Concat"},
              .apply = RemoveEmptyFromConcat,
              .example = R"(graph @g(%a: f32[N,2], %b: f32[N,0]) -> (%y) {
  %y = Relu(Concat(%a, %b) {axis=1})
})"};
}

TERN_RULE(MergeConcatParts) {
  return Rule{.summary =
                  "inputs of a Concat that are parts of one tensor are merged: all outputs of a Split into "
                  "the input of the Split, adjacent Slices into one Slice",
              .roots = {"Concat"},
              .apply = MergeConcatParts,
              .example = R"(graph @g(%x: f32[N,6]) -> (%y) {
  %a, %b = Split(%x) {axis=1}
  %y = Relu(Concat(%a, %b) {axis=1})
})"};
}

TERN_RULE(ReadSliceBeforeConcat) {
  return Rule{
      .summary =
          "a Slice of a Concat is a Slice of the one input that it overlaps, or a Concat of several entire inputs",
      .roots = {"Slice"},
      .apply = SliceOfConcat,
      .example = R"(graph @g(%a: f32[N,2], %b: f32[N,3]) -> (%y) {
  #start: i64[1] = (2)  #end: i64[1] = (5)  #axis: i64[1] = (1)
  %y = Relu(Slice(Concat(%a, %b) {axis=1}, #start, #end, #axis))
})"};
}

TERN_RULE(RemoveSplitOfConcat) {
  return Rule{.summary = "a Split of a Concat into the same parts is removed",
              .roots = {"Split"},
              .apply = SplitOfConcat,
              .example = R"(graph @g(%a: f32[N,2], %b: f32[N,3]) -> (%p, %q) {
  #sizes: i64[2] = (2, 3)
  %x, %y = Split(Concat(%a, %b) {axis=1}, #sizes) {axis=1}
  %p = Relu(%x)
  %q = Tanh(%y)
})"};
}

}  // namespace tern
