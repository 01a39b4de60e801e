// Simplifies chains of MatMuls. Multiplies constant matrices at optimization time, and computes products of
// three matrices in the cheaper order.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Rows and columns of the matrix v, or of its transpose if `transposed` is true.
Dim Rows(const Value* v, bool transposed) { return v->type.shape[transposed ? -1 : -2]; }
Dim Columns(const Value* v, bool transposed) { return v->type.shape[transposed ? -2 : -1]; }

bool ConstantMatrix(const Value* v) { return v->is_constant() && v->constant.rank() == 2 && IsFloatValue(v); }

// Applies (x A + p) B + q = x (A B) + (p B + q).
bool MergeConstants(Rewrite& r) {
  Node& second = r.root();
  Value *y = second.input(0), *b = second.input(1);
  if (!ConstantMatrix(b)) return r.Skip("the second factor is not a constant matrix");
  if (second.attrs.Bool("transpose_a")) return r.Skip("the first product is transposed");
  const auto first = ChannelsOf(r, y, "MatMul");
  if (!first) return false;
  Value *a = first->weights, *p = first->bias, *q = second.input(2);
  if (a->constant.rank() != 2) return r.Skip("the first factor is not a constant matrix");
  if ((p && !p->is_constant()) || (p && q && !q->is_constant())) return r.Skip("a bias is not constant");
  if (p && p->constant.rank() != 1) return r.Skip("the first bias is not a row");
  const bool ta = first->node->attrs.Bool("transpose_b"), tb = second.attrs.Bool("transpose_b");
  // A is [k, m] and B is [m, n].
  const int64_t k = Rows(a, ta).value(), m = Columns(a, ta).value(), n = Columns(b, tb).value();
  if (k * n >= k * m + m * n) return r.Skip("one MatMul would be more work than two");
  const auto alpha = static_cast<double>(second.attrs.Float("alpha"));
  if (p && p->constant.size() != m) p = Add(r, p, r.Const(Tensor(p->type.dtype, {m})));
  Value* moved = p ? r.Op("MatMul", {p, b}, {{"transpose_b", tb}, {"alpha", alpha}}) : nullptr;
  Value* bias = !moved ? q : q ? Add(r, moved, q) : moved;
  // Folds the first alpha into the weights, because the product of both alphas may not be exact in f32.
  const double factor = static_cast<double>(first->node->attrs.Float("alpha"));
  Value* weights = r.Op("MatMul", {a, b}, {{"transpose_a", ta}, {"transpose_b", tb}, {"alpha", factor}});
  Attrs attrs = second.attrs;
  SetAttr(attrs, "transpose_a", first->node->attrs.Bool("transpose_a"));
  SetAttr(attrs, "transpose_b", false);
  return r.Replace(r.Op(*second.op, attrs, {first->x, weights, bias, second.input(3)}));
}

bool SameBatch(const Value* a, const Value* b) {
  const Shape &s = a->type.shape, &t = b->type.shape;
  if (s.rank() < 2 || s.rank() != t.rank()) return false;
  for (int i = 0; i + 2 < s.rank(); ++i)
    if (!(s[i] == t[i])) return false;
  return true;
}

// MoreWork replaces all symbolic dims first by 32, then by 1024.
constexpr int64_t kTypicalSizes[] = {32, 1024};

// True if first > second for each of kTypicalSizes.
bool MoreWork(const Dim& first, const Dim& second) {
  if (first.unknown() || second.unknown()) return false;
  std::vector<std::string> symbols;
  first.CollectSymbols(symbols);
  second.CollectSymbols(symbols);
  for (int64_t size : kTypicalSizes) {
    SymbolValues values;
    for (const std::string& name : symbols) values[name] = size;
    const auto a = first.Evaluate(values), b = second.Evaluate(values);
    if (!a || !b || *a <= *b) return false;
  }
  return true;
}

// Returns the MatMul that produces v, an operand of the root. `beside` is the other operand. The MatMul must
// have no bias and no epilogue, and v must have no other reader. The batch dims of all operands must be
// equal. Otherwise calls Skip with the reason and returns null.
Node* InnerProduct(Rewrite& r, Value* v, const Value* beside) {
  Node* inner = MadeBy(v, "MatMul");
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return nullptr;
  };
  if (!OnlyUse(v) || inner->graph != &r.graph()) return no("'", v->name, "' is also read by another node");
  if (!NoEpilogue(*inner) || inner->input(2)) return no("the inner product has a bias or an epilogue");
  if (!SameBatch(inner->input(0), inner->input(1)) || !SameBatch(inner->input(0), beside))
    return no("the batch dims of the operands are not provably equal");
  return inner;
}

// Rewrites (A B) C as A (B C). A is [m, k], B is [k, n] and C is [n, p].
bool ToTheRight(Rewrite& r) {
  Node& root = r.root();
  Value* c = root.input(1);
  Node* inner = InnerProduct(r, root.input(0), c);
  if (!inner) return false;
  if (root.attrs.Bool("transpose_a")) return r.Skip("the inner product is transposed");
  Value *a = inner->input(0), *b = inner->input(1);
  const bool ta = inner->attrs.Bool("transpose_a"), tb = inner->attrs.Bool("transpose_b"),
             tc = root.attrs.Bool("transpose_b");
  const Dim m = Rows(a, ta), k = Columns(a, ta), n = Columns(b, tb), p = Columns(c, tc);
  if (!MoreWork(m * k * n + m * n * p, k * n * p + m * k * p))
    return r.Skip("the other order is not provably cheaper");
  Value* right = r.Op("MatMul", {b, c},
                      {{"transpose_a", tb}, {"transpose_b", tc}, {"alpha", inner->attrs.Get("alpha")}});
  Attrs attrs = root.attrs;
  SetAttr(attrs, "transpose_a", ta);
  SetAttr(attrs, "transpose_b", false);
  return r.Replace(r.Op(*root.op, attrs, {a, right, root.input(2), root.input(3)}));
}

// Rewrites A (B C) as (A B) C. A is [m, k], B is [k, n] and C is [n, p].
bool ToTheLeft(Rewrite& r) {
  Node& root = r.root();
  Value* a = root.input(0);
  Node* inner = InnerProduct(r, root.input(1), a);
  if (!inner) return false;
  if (root.attrs.Bool("transpose_b")) return r.Skip("the inner product is transposed");
  Value *b = inner->input(0), *c = inner->input(1);
  const bool ta = root.attrs.Bool("transpose_a"), tb = inner->attrs.Bool("transpose_a"),
             tc = inner->attrs.Bool("transpose_b");
  const Dim m = Rows(a, ta), k = Columns(a, ta), n = Columns(b, tb), p = Columns(c, tc);
  if (!MoreWork(k * n * p + m * k * p, m * k * n + m * n * p))
    return r.Skip("the other order is not provably cheaper");
  Value* left = r.Op("MatMul", {a, b},
                     {{"transpose_a", ta}, {"transpose_b", tb}, {"alpha", inner->attrs.Get("alpha")}});
  Attrs attrs = root.attrs;
  SetAttr(attrs, "transpose_a", false);
  SetAttr(attrs, "transpose_b", tc);
  return r.Replace(r.Op(*root.op, attrs, {left, c, root.input(2), root.input(3)}));
}

bool Reorder(Rewrite& r) {
  if (!IsFloatValue(r.root().output(0))) return r.Skip("the type is not a float");
  if (MadeBy(r.root().input(0), "MatMul") && ToTheRight(r)) return true;
  if (MadeBy(r.root().input(1), "MatMul")) return ToTheLeft(r);
  return MadeBy(r.root().input(0), "MatMul") ? false : r.Skip("no operand is a product");
}

}  // namespace

TERN_RULE(MergeMatMuls) {
  return Rule{
      .summary = "two MatMuls by constant matrices are one MatMul by their product, where that is less work",
      .level = Level::kExtended,  // because results may differ if inf - inf occurs
      .roots = {"MatMul"},
      .apply = MergeConstants,
      .example = R"(graph @g(%x: f32[N,1]) -> (%y) {
  #a: f32[1,2] = (1, 2)  #b: f32[2,1] = (3, 4)
  %y = MatMul(MatMul(%x, #a), #b)
})"};
}

TERN_RULE(ReorderMatMulChain) {
  return Rule{.summary = "a product of three matrices is computed in the cheaper order",
              .level = Level::kExtended,  // because results may differ if inf - inf occurs
              .roots = {"MatMul"},
              .apply = Reorder,
              .example = R"(graph @g(%a: f32[64,8], %b: f32[8,64], %c: f32[64,8]) -> (%y) {
  %y = MatMul(MatMul(%a, %b), %c)
})"};
}

}  // namespace tern
