// Folds BatchNorm(x) * c and BatchNorm(x) + c, with one constant c per channel, into the scale and bias
// of the BatchNorm. Merges two BatchNorms.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns the BatchNorm that produces y. Its scale and bias must be constant, and y must have no other
// readers. Otherwise calls Skip with the reason and returns null.
Node* NormBefore(Rewrite& r, Value* y) {
  Node* norm = MadeBy(y, "BatchNorm");
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return nullptr;
  };
  if (!norm) return no("'", y->name, "' is not made by BatchNorm");
  if (!OnlyUse(y)) return no("'", y->name, "' is also read by another node");
  for (int i : {1, 2})
    if (!norm->input(i)->is_constant()) return no("'", norm->input(i)->name, "' is not a constant");
  if (norm->input(1)->type.dtype != y->type.dtype || norm->input(2)->type.dtype != y->type.dtype)
    return no("scale and data have different types");
  if (y->type.shape.rank() < 2) return no("the rank is not known");
  return norm;
}

Value* WithAffine(Rewrite& r, const Node& norm, Value* scale, Value* bias) {
  return r.Op(*norm.op, norm.attrs, {norm.input(0), scale, bias, norm.input(3), norm.input(4)});
}

bool MergeNorms(Rewrite& r) {
  Node* first = NormBefore(r, r.root().input(0));
  Affine affine;
  if (!first || !AffineOf(r, r.root(), first->input(1)->type.dtype, affine)) return false;
  return r.Replace(WithAffine(r, *first, Mul(r, first->input(1), affine.factor),
                              Add(r, Mul(r, first->input(2), affine.factor), affine.shift)));
}

bool MergeBinary(Rewrite& r) {
  Node& root = r.root();
  const std::string kind = KindName(root);
  const int at = root.input(0)->is_constant() ? 0 : 1;
  if (at == 0 && (kind == "div" || kind == "sub")) return r.Skip("the constant is the first operand");
  Value* y = root.input(1 - at);
  Node* norm = NormBefore(r, y);
  if (!norm) return false;
  Channels like;
  like.weights = norm->input(1);
  like.count = like.weights->constant.size();
  like.rank = y->type.shape.rank();
  like.axis = 1;
  Value* c = PerChannel(r, like, root.input(at));
  if (!c) return false;
  Value *scale = norm->input(1), *bias = norm->input(2);
  const auto combine = [&](Value* v) { return r.Op("Binary", {v, c}, {{"kind", kind}}); };
  if (kind == "mul" || kind == "div") {
    if (!AllFiniteAndNotZero(c)) return r.Skip("a factor is zero or not finite");
    scale = combine(scale);
  }
  return r.Replace(WithAffine(r, *norm, scale, combine(bias)));
}

}  // namespace

TERN_RULE(MergeBatchNorms) {
  return Rule{.summary = "two BatchNorms in a row are merged into one",
              .roots = {"BatchNorm"},
              .apply = MergeNorms,
              .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #s: f32[1] = (1)  #b: f32[1] = (2)  #m: f32[1] = (3)  #v: f32[1] = (4)
  %y = BatchNorm(BatchNorm(%x, #s, #b, #m, #v), #b, #m, #s, #v)
})"};
}

TERN_RULE(FoldAffineIntoBatchNorm) {
  return Rule{
      .summary =
          "a constant per channel that scales or shifts the result of a BatchNorm is folded into the BatchNorm",
      .roots = {"Binary:add", "Binary:sub", "Binary:mul", "Binary:div"},
      .apply = MergeBinary,
      .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #s: f32[1] = (1)  #b: f32[1] = (2)  #m: f32[1] = (3)  #v: f32[1] = (4)  #c: f32[] = (5)
  %y = BatchNorm(%x, #s, #b, #m, #v) * #c
})"};
}

}  // namespace tern
