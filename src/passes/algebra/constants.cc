// Merges the constants of a chain of sums or products.
#include <algorithm>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// A sum or product of a value and a constant.
struct Term {
  Value *value = nullptr, *constant = nullptr;
  bool adds = false;      // true for add and sub, false for mul and div
  bool inverse = false;   // the constant is subtracted, or is the divisor
  bool reversed = false;  // the term is constant - value
};

std::optional<Term> TermOf(const Node* node) {
  if (!node || !IsOp(*node, "Binary")) return std::nullopt;
  const std::string kind = KindName(*node);
  Term t;
  t.adds = kind == "add" || kind == "sub";
  if (!t.adds && kind != "mul" && kind != "div") return std::nullopt;
  t.inverse = kind == "sub" || kind == "div";
  const int at = node->input(0)->is_constant() ? 0 : 1;
  t.constant = node->input(at);
  t.value = node->input(1 - at);
  if (!t.constant->is_constant() || t.value->is_constant()) return std::nullopt;
  if (at == 0 && t.inverse) {
    if (kind == "div") return std::nullopt;
    t.inverse = false;
    t.reversed = true;
  }
  return t;
}

Value* EmitBinary(Rewrite& r, const char* kind, Value* a, Value* b) {
  return r.Op("Binary", {a, b}, {{"kind", kind}});
}

// Rewrites `t` as x + k or x * k, and returns k. For x - c, k is -c. For x / c, k is 1 / c.
Value* Plain(Rewrite& r, const Term& t) {
  if (!t.inverse) return t.constant;
  if (t.adds) return r.Op("Unary", {t.constant}, {{"kind", "neg"}});
  return EmitBinary(r, "div", r.Scalar(t.constant->type.dtype, 1), t.constant);
}

bool NotLarger(const Value* result, const Value* a, const Value* b) {
  return result->constant.size() <= std::max(a->constant.size(), b->constant.size());
}

// Returns the term that produces outer.value. outer.value must have no other reader, and both constants must
// have the same type. Otherwise calls Skip with the reason and returns nullopt.
std::optional<Term> InnerTerm(Rewrite& r, const Term& outer) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  auto inner = TermOf(outer.value->producer);
  if (!inner) return no("'", outer.value->name, "' is not a sum or product with a constant");
  if (!OnlyUse(outer.value)) return no("'", outer.value->name, "' is also read by another node");
  if (inner->constant->type.dtype != outer.constant->type.dtype) return no("the types differ");
  return inner;
}

// Rewrites (x + a) + b, (a - x) + b, b - (x + a) … as x + c or c - x.
bool MergeSums(Rewrite& r) {
  const auto outer = TermOf(&r.root());
  if (!outer || !outer->adds) return r.Skip("no operand is a constant");
  const auto inner = InnerTerm(r, *outer);
  if (!inner) return false;
  if (!inner->adds) return r.Skip("the inner node is a product, not a sum");
  const DType dtype = r.root().output(0)->type.dtype;
  if (!IsFloat(dtype) && !IsSignedInt(dtype)) return r.Skip("the type has no sign");
  Value *a = Plain(r, *inner), *b = Plain(r, *outer);
  Value* c = outer->reversed ? EmitBinary(r, "sub", b, a) : EmitBinary(r, "add", a, b);
  if (!NotLarger(c, a, b)) return r.Skip("the sum of the constants has a larger shape than each constant");
  if (RoundsByCancelling(a, b, c))
    return r.Skip("with the sum of the constants, the result would round differently");
  const bool minus = outer->reversed != inner->reversed;
  return r.Replace(minus ? EmitBinary(r, "sub", c, inner->value) : EmitBinary(r, "add", inner->value, c));
}

// Merges the constants of (x * a) * b, (x * a) / b, (x / a) * b and (x / a) / b.
bool MergeProducts(Rewrite& r) {
  const auto outer = TermOf(&r.root());
  if (!outer || outer->adds) return r.Skip("no factor or divisor is a constant");
  const auto inner = InnerTerm(r, *outer);
  if (!inner) return false;
  if (inner->adds) return r.Skip("the inner node is a sum, not a product");
  const DType dtype = r.root().output(0)->type.dtype;
  if (IsFloat(dtype)) {
    if (!AllFiniteAndNotZero(inner->constant) || !AllFiniteAndNotZero(outer->constant))
      return r.Skip("a constant is zero or not finite");
  } else if (inner->inverse || outer->inverse) {
    return r.Skip("integer division truncates");
  }
  // Emits x * (a / b) instead of x * a * (1 / b), so that the quotient is rounded once.
  Value* c = inner->inverse == outer->inverse ? EmitBinary(r, "mul", inner->constant, outer->constant)
             : inner->inverse                 ? EmitBinary(r, "div", outer->constant, inner->constant)
                                              : EmitBinary(r, "div", inner->constant, outer->constant);
  if (!NotLarger(c, inner->constant, outer->constant))
    return r.Skip("the product of the constants has a larger shape than each constant");
  if (IsFloat(dtype) && !AllNormal(c))
    return r.Skip("the product of the constants is too small or not finite");
  const bool divides = inner->inverse && outer->inverse;
  return r.Replace(EmitBinary(r, divides ? "div" : "mul", inner->value, c));
}

// Rewrites (x * a + b) * c as x * (a * c) + b * c.
bool MergeAffine(Rewrite& r) {
  const auto outer = TermOf(&r.root());
  if (!outer || outer->adds) return r.Skip("no factor or divisor is a constant");
  if (!IsFloatValue(r.root().output(0))) return r.Skip("the type is not a float");
  const auto sum = InnerTerm(r, *outer);
  if (!sum) return false;
  if (!sum->adds || sum->reversed) return r.Skip("the inner node is not a sum with a constant");
  const auto inner = InnerTerm(r, *sum);
  if (!inner) return false;
  if (inner->adds) return r.Skip("the innermost node is a sum, not a product");
  if (!AllFiniteAndNotZero(inner->constant) || !AllFiniteAndNotZero(outer->constant))
    return r.Skip("a constant is zero or not finite");
  const char* kind = outer->inverse ? "div" : "mul";
  Value* scale = EmitBinary(r, kind, Plain(r, *inner), outer->constant);
  Value* shift = EmitBinary(r, kind, Plain(r, *sum), outer->constant);
  if (!NotLarger(scale, inner->constant, outer->constant) ||
      !NotLarger(shift, sum->constant, outer->constant))
    return r.Skip("the new constants have larger shapes than the old constants");
  if (!AllNormal(scale)) return r.Skip("the product of the constants is too small or not finite");
  return r.Replace(EmitBinary(r, "add", EmitBinary(r, "mul", inner->value, scale), shift));
}

// Rewrites (x + a) + (y + b) as (x + y) + (a + b).
bool GatherConstants(Rewrite& r) {
  std::optional<Term> sides[2];
  for (int i : {0, 1}) {
    Value* v = r.root().input(i);
    sides[i] = TermOf(v->producer);
    if (!sides[i] || !sides[i]->adds || sides[i]->reversed)
      return r.Skip("'", v->name, "' is not a sum with a constant");
    if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
    if (!IsFloatValue(v) && !IsSignedInt(v->type.dtype)) return r.Skip("the type has no sign");
  }
  Value *a = Plain(r, *sides[0]), *b = Plain(r, *sides[1]), *c = EmitBinary(r, "add", a, b);
  if (!NotLarger(c, a, b)) return r.Skip("the sum of the constants has a larger shape than each constant");
  if (RoundsByCancelling(a, b, c))
    return r.Skip("with the sum of the constants, the result would round differently");
  return r.Replace(EmitBinary(r, "add", EmitBinary(r, "add", sides[0]->value, sides[1]->value), c));
}

}  // namespace

TERN_RULE(MergeConstantSums) {
  return Rule{
      .summary = "(x + 1) + 2 is x + 3, for any combination of add and sub",
      .roots = {"Binary:add", "Binary:sub"},
      .apply = MergeSums,
      .example = R"(graph @g(%x: f32[N]) -> (%y) { #a: f32[] = (1) #b: f32[] = (2) %y = (%x + #a) - #b })"};
}
TERN_RULE(MergeConstantProducts) {
  return Rule{
      .summary = "(x * 6) / 2 is x * 3, for any combination of mul and div",
      .roots = {"Binary:mul", "Binary:div"},
      .apply = MergeProducts,
      .example = R"(graph @g(%x: f32[N]) -> (%y) { #a: f32[] = (6) #b: f32[] = (2) %y = (%x * #a) / #b })"};
}
TERN_RULE(MergeAffineConstants) {
  return Rule{
      .summary = "(x * 2 + 3) * 4 is x * 8 + 12",
      .roots = {"Binary:mul", "Binary:div"},
      .apply = MergeAffine,
      .example =
          R"(graph @g(%x: f32[N]) -> (%y) { #a: f32[] = (2) #b: f32[] = (3) #c: f32[] = (4) %y = (%x * #a + #b) * #c })"};
}
TERN_RULE(GatherConstantTerms) {
  return Rule{
      .summary = "(x + 1) + (y + 2) is (x + y) + 3",
      .roots = {"Binary:add"},
      .apply = GatherConstants,
      .example =
          R"(graph @g(%x: f32[N], %z: f32[N]) -> (%y) { #a: f32[] = (1) #b: f32[] = (2) %y = (%x + #a) + (%z + #b) })"};
}

}  // namespace tern
