// Recomposes rotary position embeddings.
#include "passes/recompose/angles.h"
#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool LastAxis(const Node& concat) {
  const int64_t axis = concat.attrs.Int("axis");
  return axis == -1 || axis == concat.output(0)->type.shape.rank() - 1;
}

// True if v is elements [start, end) of x along its last axis, whose size must be known.
bool IsPart(const Value* v, const Value* x, int64_t start, int64_t end) {
  const auto part = ReadPart(v);
  return part && part->x == x && part->axis == x->type.shape.rank() - 1 && part->start == start &&
         part->end == end;
}

// True if v is every second element of x along its last axis, from `start` on.
bool IsEverySecond(const Value* v, const Value* x, int64_t start) {
  const Node* slice = MadeBy(v, "Slice");
  if (!slice || slice->input(0) != x) return false;
  const auto axes = ReadSlice(*slice);
  return axes && axes->size() == 1 && (*axes)[0].axis == x->type.shape.rank() - 1 && (*axes)[0].step == 2 &&
         (*axes)[0].start == start && (*axes)[0].end >= x->type.shape[-1].value();
}

std::optional<int64_t> EvenWidth(const Value* x) {
  const Shape& s = x->type.shape;
  if (s.rank() != 4 || !s[-1].known() || s[-1].value() % 2 || s[-1].value() < 2) return std::nullopt;
  return s[-1].value();
}

// True if v = concat(-x2, x1), where x1 and x2 are the halves of x along the last axis.
bool IsRotatedHalves(const Value* v, const Value* x) {
  const Node* concat = MadeBy(v, "Concat");
  const auto width = EvenWidth(x);
  if (!concat || !width || concat->inputs().size() != 2 || !LastAxis(*concat)) return false;
  const Node* negative = MadeBy(concat->input(0), "Unary", "neg");
  if (!negative || !IsPart(negative->input(0), x, *width / 2, *width) ||
      !IsPart(concat->input(1), x, 0, *width / 2))
    return false;
  return true;
}

// True if v is x with rotated pairs along the last axis: v[2i] = -x[2i + 1], v[2i + 1] = x[2i].
bool IsRotatedPairs(const Value* v, const Value* x) {
  const Node* merge = MadeBy(v, "Reshape");
  const Node* concat = merge ? MadeBy(merge->input(0), "Concat") : nullptr;
  const auto width = EvenWidth(x);
  if (!concat || !width || concat->inputs().size() != 2 || !LastAxis(*concat) || !SameShape(v, x))
    return false;
  const Node *first = MadeByView(concat->input(0)), *second = MadeByView(concat->input(1));
  if (!first || !second || concat->output(0)->type.shape.rank() != 5 ||
      !concat->output(0)->type.shape[-1].Is(2) || !concat->output(0)->type.shape[-2].Is(*width / 2))
    return false;
  const Node* negative = MadeBy(first->input(0), "Unary", "neg");
  if (!negative || !IsEverySecond(negative->input(0), x, 1) || !IsEverySecond(second->input(0), x, 0))
    return false;
  return true;
}

// Describes the sum x * cos + rotated(x) * sin.
struct Rotation {
  Value *x = nullptr, *cos = nullptr, *sin = nullptr;
  Copies copies = Copies::kHalves;
};

std::optional<Rotation> RotationAt(const Node& sum) {
  for (int side : {0, 1}) {
    const Node* straight = MadeBy(sum.input(side), "Binary", "mul");
    const Node* rotated = MadeBy(sum.input(1 - side), "Binary", "mul");
    if (!straight || !rotated || !OnlyUse(sum.input(0)) || !OnlyUse(sum.input(1))) return std::nullopt;
    for (int a : {0, 1})
      for (int b : {0, 1}) {
        Value *x = straight->input(a), *v = rotated->input(b);
        const bool halves = IsRotatedHalves(v, x);
        if (halves || IsRotatedPairs(v, x))
          return Rotation{x, straight->input(1 - a), rotated->input(1 - b),
                          halves ? Copies::kHalves : Copies::kPairs};
      }
  }
  return std::nullopt;
}

// `factor` is the cosines or sines of x. Returns the axis of x along which `factor` has one row per
// position. The axis is 2 if x is [batch, heads, length, size], and 1 if x is [batch, length, heads, size].
// Returns -1 if the shape of `factor` fits neither.
int PositionAxis(const Value* factor, const Shape& x) {
  const Shape& f = factor->type.shape;
  const int rank = f.rank();
  if (rank >= 2 && rank <= 4 && f[-2] == x[2] && (rank == 2 || f[-3].Is(1))) return 2;
  if (rank >= 3 && rank <= 4 && f[-3] == x[1] && f[-2].Is(1)) return 1;
  return -1;
}

// `once` is `factor` without copies. Returns `once` reshaped to [batch, length, n] or [1, length, n].
// Returns null if the angles also differ between heads.
Value* AnglesFor(Rewrite& r, Value* factor, Value* once, const Shape& x, int axis) {
  const Shape& f = factor->type.shape;
  const Dim batch = f.rank() == 4 ? f[0] : Dim(1);
  if (axis < 0 || PositionAxis(factor, x) != axis || (!batch.Is(1) && batch != x[0])) return nullptr;
  return ViewAs(r, once, Shape({batch, x[axis], once->type.shape[-1]}));
}

// `cos` and `sin` are the factors in the model. `cos_once` and `sin_once` have each of their elements once
// (see passes/recompose/angles.h), and may be the same values.
struct Factors {
  Value *cos = nullptr, *cos_once = nullptr, *sin = nullptr, *sin_once = nullptr;
};

bool Emit(Rewrite& r, Value* x, const Factors& f, bool interleaved) {
  const Shape& s = x->type.shape;
  const int axis = PositionAxis(f.cos, s);
  Value *cos = AnglesFor(r, f.cos, f.cos_once, s, axis), *sin = AnglesFor(r, f.sin, f.sin_once, s, axis);
  if (!cos || !sin) return r.Skip("the cosines or sines do not have one row per position");
  if (!SameType(cos, sin) || cos->type.dtype != x->type.dtype)
    return r.Skip("cosines, sines and x have different shapes or types");
  if (axis == 2) return r.Replace(r.Op("RotaryEmbedding", {x, cos, sin}, {{"interleaved", interleaved}}));
  if (!s[2].known()) return r.Skip("the number of heads is not known");
  Value* packed = ViewAs(r, x, Shape({s[0], s[1], s[2] * s[3]}));
  if (!packed) return r.Skip("the heads cannot be packed");
  Value* y =
      r.Op("RotaryEmbedding", {packed, cos, sin}, {{"interleaved", interleaved}, {"heads", s[2].value()}});
  Value* split = ViewAs(r, y, s);
  return split ? r.Replace(split) : r.Skip("the heads cannot be unpacked");
}

bool RecomposeRotaryAt(Rewrite& r) {
  const auto found = RotationAt(r.root());
  if (!found) return r.Skip("the sum is not x * cos + rotated(x) * sin");
  Value* cos = WithoutCopies(r, found->cos, found->copies);
  Value* sin = WithoutCopies(r, found->sin, found->copies);
  if (!cos || !sin) return r.Skip("the angles of a pair are not provably equal");
  return Emit(r, found->x, {found->cos, cos, found->sin, sin}, found->copies == Copies::kPairs);
}

// Describes a product in concat(x1 * cos - x2 * sin, x2 * cos + x1 * sin). `part` is x1 or x2, and `angle`
// is cos or sin.
struct RotaryProduct {
  Value *part = nullptr, *angle = nullptr;
};

// If v = a * b, returns (a, b) and (b, a), because either may be the part. Returns nothing if v is not a
// product or has other readers.
std::vector<RotaryProduct> OperandOrders(Value* v) {
  const Node* n = OnlyUse(v) ? MadeBy(v, "Binary", "mul") : nullptr;
  if (!n) return {};
  return {{n->input(0), n->input(1)}, {n->input(1), n->input(0)}};
}

bool RecomposeSplitRotaryAt(Rewrite& r) {
  const Node& root = r.root();
  if (root.inputs().size() != 2 || !LastAxis(root))
    return r.Skip("the Concat does not join two parts along the last axis");
  const Node *difference = MadeBy(root.input(0), "Binary", "sub"),
             *sum = MadeBy(root.input(1), "Binary", "add");
  if (!difference || !sum || !OnlyUse(root.input(0)) || !OnlyUse(root.input(1)))
    return r.Skip("the parts are not a difference and a sum");
  for (const RotaryProduct& a : OperandOrders(difference->input(0)))
    for (const RotaryProduct& b : OperandOrders(difference->input(1)))
      for (int side : {0, 1})
        for (const RotaryProduct& c : OperandOrders(sum->input(side)))
          for (const RotaryProduct& d : OperandOrders(sum->input(1 - side))) {
            if (c.part != b.part || d.part != a.part || c.angle != a.angle || d.angle != b.angle) continue;
            const auto first = ReadPart(a.part);
            const auto width = first ? EvenWidth(first->x) : std::nullopt;
            if (!width || !IsPart(a.part, first->x, 0, *width / 2) ||
                !IsPart(b.part, first->x, *width / 2, *width))
              continue;
            return Emit(r, first->x, {a.angle, a.angle, b.angle, b.angle}, false);
          }
  return r.Skip("the parts are not the halves of one value rotated by the same angles");
}

}  // namespace

TERN_RULE(RecomposeRotaryEmbedding) {
  return Rule{.summary = "x * cos + concat(-x2, x1) * sin is RotaryEmbedding, also with interleaved pairs",
              .level = Level::kExtended,
              .roots = {"Binary:add"},
              .apply = RecomposeRotaryAt,
              .example = R"(graph @rotary(%x: f32[2,4,L,8], %f: f32[1,L,4]) -> (%y) {
  #zero: i64[1] = (0)  #half: i64[1] = (4)  #all: i64[1] = (8)  #last: i64[1] = (3)  #axis: i64[1] = (1)
  %a = Concat(%f, %f) {axis=-1}
  %cos = Unsqueeze(Cos(%a), #axis)
  %sin = Unsqueeze(Sin(%a), #axis)
  %t = Concat(Neg(Slice(%x, #half, #all, #last)), Slice(%x, #zero, #half, #last)) {axis=-1}
  %y = %x * %cos + %t * %sin
})"};
}

TERN_RULE(RecomposeSplitRotaryEmbedding) {
  return Rule{.summary = "concat(x1 * cos - x2 * sin, x2 * cos + x1 * sin) is RotaryEmbedding",
              .level = Level::kExtended,
              .roots = {"Concat"},
              .apply = RecomposeSplitRotaryAt,
              .example = R"(graph @rotary(%x: f32[2,4,L,8], %c: f32[1,1,L,4], %s: f32[1,1,L,4]) -> (%y) {
  #sizes: i64[2] = (4, 4)
  %a, %b = Split(%x, #sizes) {axis=3}
  %y = Concat(%a * %c - %b * %s, %b * %c + %a * %s) {axis=3}
})"};
}

}  // namespace tern
