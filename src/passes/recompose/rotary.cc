// Rotary position embeddings.
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

// v is elements [start, end) of x along its last axis, of a size that is known.
bool IsPart(const Value* v, const Value* x, int64_t start, int64_t end) {
  const auto part = ReadPart(v);
  return part && part->x == x && part->axis == x->type.shape.rank() - 1 && part->start == start &&
         part->end == end;
}

// v is every second element of x along its last axis.
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

// v has the other one of each pair of x, the second negated: concat(-x2, x1).
bool IsTurnedHalves(const Value* v, const Value* x) {
  const Node* concat = MadeBy(v, "Concat");
  const auto width = EvenWidth(x);
  if (!concat || !width || concat->inputs().size() != 2 || !LastAxis(*concat)) return false;
  const Node* negative = MadeBy(concat->input(0), "Unary", "neg");
  if (!negative || !IsPart(negative->input(0), x, *width / 2, *width) ||
      !IsPart(concat->input(1), x, 0, *width / 2))
    return false;
  return true;
}

// The same where pairs are neighbours.
bool IsTurnedPairs(const Value* v, const Value* x) {
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

// x * cos + turned(x) * sin, read from the sum.
struct Rotation {
  Value *x = nullptr, *cos = nullptr, *sin = nullptr;
  Twice pairs = Twice::kHalves;
};

std::optional<Rotation> RotationAt(const Node& sum) {
  for (int side : {0, 1}) {
    const Node* straight = MadeBy(sum.input(side), "Binary", "mul");
    const Node* turned = MadeBy(sum.input(1 - side), "Binary", "mul");
    if (!straight || !turned || !OnlyUse(sum.input(0)) || !OnlyUse(sum.input(1))) return std::nullopt;
    for (int a : {0, 1})
      for (int b : {0, 1}) {
        Value *x = straight->input(a), *v = turned->input(b);
        const bool halves = IsTurnedHalves(v, x);
        if (halves || IsTurnedPairs(v, x))
          return Rotation{x, straight->input(1 - a), turned->input(1 - b),
                          halves ? Twice::kHalves : Twice::kPairs};
      }
  }
  return std::nullopt;
}

// Angles [batch or 1, length, n] from a factor of x [batch, heads, length, size]; null when its axes are
// others.
Value* AnglesFor(Rewrite& r, Value* factor, Value* once, const Shape& x) {
  const Shape& f = factor->type.shape;
  const int rank = f.rank();
  if (rank < 2 || rank > 4 || f[-2] != x[2]) return nullptr;
  if (rank >= 3 && !f[-3].Is(1)) return nullptr;
  const Dim batch = rank == 4 ? f[0] : Dim(1);
  if (!batch.Is(1) && batch != x[0]) return nullptr;
  return ViewAs(r, once, Shape({batch, x[2], once->type.shape[-1]}));
}

bool Emit(Rewrite& r, Value* x, Value* cos, Value* sin, bool interleaved) {
  if (!cos || !sin) return r.Skip("the angles are not one per position");
  if (!SameType(cos, sin) || cos->type.dtype != x->type.dtype)
    return r.Skip("cosines and sines have different shapes");
  return r.Replace(r.Op("RotaryEmbedding", {x, cos, sin}, {{"interleaved", interleaved}}));
}

bool RecomposeRotaryAt(Rewrite& r) {
  const auto found = RotationAt(r.root());
  if (!found) return r.Skip("not x * cos + turned(x) * sin");
  Value *cos = Once(r, found->cos, found->pairs), *sin = Once(r, found->sin, found->pairs);
  if (!cos || !sin) return r.Skip("the angles of a pair are not seen to be the same");
  const Shape& x = found->x->type.shape;
  cos = AnglesFor(r, found->cos, cos, x), sin = AnglesFor(r, found->sin, sin, x);
  return Emit(r, found->x, cos, sin, found->pairs == Twice::kPairs);
}

// concat(x1 * cos - x2 * sin, x2 * cos + x1 * sin): each angle stands once.
struct Product {
  Value *part = nullptr, *angle = nullptr;
};

std::vector<Product> Readings(Value* v) {
  const Node* n = OnlyUse(v) ? MadeBy(v, "Binary", "mul") : nullptr;
  if (!n) return {};
  return {{n->input(0), n->input(1)}, {n->input(1), n->input(0)}};
}

bool RecomposeSplitRotaryAt(Rewrite& r) {
  const Node& root = r.root();
  if (root.inputs().size() != 2 || !LastAxis(root)) return r.Skip("not two parts along the last axis");
  const Node *difference = MadeBy(root.input(0), "Binary", "sub"),
             *sum = MadeBy(root.input(1), "Binary", "add");
  if (!difference || !sum || !OnlyUse(root.input(0)) || !OnlyUse(root.input(1)))
    return r.Skip("not a difference and a sum");
  for (const Product& a : Readings(difference->input(0)))
    for (const Product& b : Readings(difference->input(1)))
      for (int side : {0, 1})
        for (const Product& c : Readings(sum->input(side)))
          for (const Product& d : Readings(sum->input(1 - side))) {
            if (c.part != b.part || d.part != a.part || c.angle != a.angle || d.angle != b.angle) continue;
            const auto first = ReadPart(a.part);
            const auto width = first ? EvenWidth(first->x) : std::nullopt;
            if (!width || !IsPart(a.part, first->x, 0, *width / 2) ||
                !IsPart(b.part, first->x, *width / 2, *width))
              continue;
            const Shape& x = first->x->type.shape;
            return Emit(r, first->x, AnglesFor(r, a.angle, a.angle, x), AnglesFor(r, b.angle, b.angle, x),
                        false);
          }
  return r.Skip("not the halves of one value turned by the same angles");
}

// concat(rotary(x[:size]), x[size:])
bool FusePartialRotaryAt(Rewrite& r) {
  const Node& root = r.root();
  if (root.inputs().size() != 2 || !LastAxis(root)) return r.Skip("not two parts along the last axis");
  const Node* rotary = MadeBy(root.input(0), "RotaryEmbedding");
  if (!rotary || !OnlyUse(root.input(0)) || rotary->attrs.Int("size"))
    return r.Skip("the first part is not an embedding of all features");
  const auto first = ReadPart(rotary->input(0));
  if (!first || first->start != 0 || first->x->type.shape.rank() != 4 || !first->x->type.shape[-1].known())
    return r.Skip("the first part is not a part of a value");
  const int64_t width = first->x->type.shape[-1].value();
  if (!IsPart(rotary->input(0), first->x, 0, first->end) ||
      !IsPart(root.input(1), first->x, first->end, width))
    return r.Skip("the second part is not the rest of the value");
  std::vector<Value*> inputs = rotary->inputs();
  inputs[0] = first->x;
  Attrs attrs = rotary->attrs;
  const Status status = attrs.Set("size", first->end);
  TERN_CHECK(status.ok(), status.message());
  return r.Replace(r.Op(*rotary->op, std::move(attrs), inputs));
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

TERN_RULE(FusePartialRotaryEmbedding) {
  return Rule{.summary = "RotaryEmbedding of the first features only needs no parts cut and joined",
              .level = Level::kExtended,
              .roots = {"Concat"},
              .apply = FusePartialRotaryAt,
              .example = R"(graph @partial(%x: f32[2,4,3,8], %c: f32[1,3,2], %s: f32[1,3,2]) -> (%y) {
  #sizes: i64[2] = (4, 4)
  %a, %b = Split(%x, #sizes) {axis=3}
  %y = Concat(RotaryEmbedding(%a, %c, %s), %b) {axis=3}
})"};
}

}  // namespace tern
