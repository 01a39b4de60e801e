// Recomposes Attention. The root is the MatMul with the values. From there the code follows producers back
// to the queries and keys.
#include <cmath>

#include "passes/recompose/polynomial.h"
#include "passes/recompose/scores.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Describes the left operand of the MatMul with the values. It is the result of `softmax`, possibly with a
// Cast.
struct Probabilities {
  Node* softmax = nullptr;
  bool guarded = false;  // true if a Where replaces NaN by 0 in the result of `softmax`
  std::string problem = "no softmax over the last axis";
};

Value* ThroughCast(Value* v) {
  const Node* cast = MadeBy(v, "Cast");
  return cast && OnlyUse(v) && IsFloatValue(cast->input(0)) && IsFloatValue(v) ? cast->input(0) : v;
}

// If v = Where(IsNaN(p), 0, p) and p has no other reader, returns p. Otherwise returns v.
Value* ThroughGuard(Value* v) {
  const Node* where = MadeBy(v, "Where");
  if (!where || !OnlyUse(v) || !IsScalar(where->input(1), 0)) return v;
  const Node* test = MadeBy(where->input(0), "Unary", "isnan");
  Value* p = where->input(2);
  const bool fits =
      test && test->input(0) == p && OnlyUse(where->input(0)) && p->uses.size() == 2 && p->output_uses == 0;
  return fits ? p : v;
}

Probabilities ReadProbabilities(Value* v) {
  Probabilities found;
  v = ThroughCast(v);
  Value* inner = ThroughGuard(v);
  found.guarded = inner != v;
  Node* softmax = MadeBy(inner, "Softmax", "softmax");
  const int rank = inner->type.shape.rank();
  if (!softmax || rank < 0) return found;
  const int64_t axis = softmax->attrs.Int("axis");
  if (axis != -1 && axis != rank - 1) return found;
  if (!found.guarded && !OnlyUse(v)) {
    found.problem = "the probabilities have other readers";
    return found;
  }
  found.softmax = softmax;
  return found;
}

// The keys [..., length, size] are factor * Transpose(base, perm).
struct Keys {
  Value* base = nullptr;
  std::vector<int64_t> perm;  // empty for the identity
  double factor = 1;
};

bool IsIdentity(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Keys ReadKeys(Value* v, bool rows) {
  Keys keys;
  const Scaled outer = PeelFactor(v);
  keys.base = outer.value, keys.factor = outer.factor;
  if (rows) return keys;
  const int rank = v->type.shape.rank();
  keys.perm.resize(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) keys.perm[static_cast<size_t>(i)] = i;
  if (const Node* transpose = MadeBy(outer.value, "Transpose")) {
    keys.perm = transpose->attrs.Ints("perm");
    const Scaled inner =
        OnlyUse(outer.value) ? PeelFactor(transpose->input(0)) : Scaled{1, transpose->input(0)};
    keys.base = inner.value, keys.factor *= inner.factor;
  }
  std::swap(keys.perm[keys.perm.size() - 1], keys.perm[keys.perm.size() - 2]);
  if (IsIdentity(keys.perm)) keys.perm.clear();
  return keys;
}

Shape Permuted(const Shape& s, const std::vector<int64_t>& perm) {
  if (perm.empty()) return s;
  Shape out = s;
  for (size_t i = 0; i < perm.size(); ++i) out.dims[i] = s.dims[static_cast<size_t>(perm[i])];
  return out;
}

// Checks that q, k and v are [batch, heads, length, size] or [batch*heads, length, size]. Returns the
// problem, or "" if there is none.
std::string ShapeProblem(const Shape& q, const Shape& k, const Shape& v) {
  const int rank = q.rank();
  if (rank != 3 && rank != 4) return StrCat("queries have rank ", rank);
  if (k.rank() != rank || v.rank() != rank) return "queries, keys and values have different ranks";
  if (q[0] != k[0] || k[0] != v[0]) return "batch sizes are not provably equal";
  if (q[-1] != k[-1] || k[-2] != v[-2]) return "sizes are not provably equal";
  if (rank == 4 && k[1] != v[1]) return "keys and values have different numbers of heads";
  if (rank == 4 && q[1] != k[1] && !(k[1].Is(1) && q[1].known()))
    return "the numbers of heads are not provably equal";
  return "";
}

// True if mask + scores provably has the shape of the scores.
bool BroadcastsIntoScores(const Value* mask, const Value* scores) {
  const auto joined = BroadcastShapes(mask->type.shape, scores->type.shape);
  return joined.ok() && scores->type.shape.ranked && *joined == scores->type.shape;
}

// True if `mask` is a finite constant, or a Where that selects from two finite constants.
bool IsFinite(const Value* mask) {
  if (AllFinite(mask)) return true;
  const Node* choice = MadeBy(mask, "Where");
  return choice && AllFinite(choice->input(1)) && AllFinite(choice->input(2));
}

std::string MaskProblem(const Scores& scores, DType dtype) {
  const Value* product = scores.product->output(0);
  for (const MaskStep& step : scores.masks) {
    const Value* mask = step.addend ? step.addend : step.condition;
    if (!BroadcastsIntoScores(mask, product))
      return StrCat("mask ", mask->type.ToString(), " does not broadcast into ", product->type.ToString());
    if (step.addend && mask->type.dtype != dtype) return "the mask has another type";
    if (step.condition && dtype == DType::kF16 && std::isfinite(step.fill))
      return StrCat("masked scores are ", step.fill, ", which f16 cannot represent");
    if (scores.floored && (step.condition || !IsFinite(mask))) return "the scores are clipped";
  }
  if (scores.head_scale && !BroadcastsIntoScores(scores.head_scale, product))
    return "a factor does not broadcast into the scores";
  return "";
}

// Reshapes a mask [batch*heads, length, keys] to [batch*heads, 1, length, keys].
Value* WithHeads(Rewrite& r, Value* mask, int rank) {
  if (!mask || rank == 4 || mask->type.shape.rank() < 3) return mask;
  return r.Op("Unsqueeze", {mask, r.Ints({1})});
}

bool PlainProduct(const Node& n) {
  return !n.input(2) && !n.input(3) && n.attrs.Text("activation") == "none" && n.attrs.Float("alpha") == 1 &&
         !n.attrs.Bool("transpose_a") && !n.attrs.Bool("transpose_b");
}

// Returns the value for the attribute "scale". If `scale` is the default 1 / sqrt(size), returns 0.
double AttributeScale(double scale, const Dim& size) {
  if (!size.known()) return scale;
  const double preset = 1 / std::sqrt(static_cast<double>(size.value()));
  return std::abs(scale - preset) <= 1e-6 * preset ? 0 : scale;
}

bool RecomposeAttentionAt(Rewrite& r) {
  const Node& root = r.root();
  if (!PlainProduct(root))
    return r.Skip("the product with the values has a bias, an epilogue or transposed operands");
  const Probabilities p = ReadProbabilities(root.input(0));
  if (!p.softmax) return r.Skip(p.problem);
  const Scores scores = ReadScores(p.softmax->input(0));
  if (!scores.problem.empty()) return r.Skip(scores.problem);
  Node& product = *scores.product;
  if (product.attrs.Bool("transpose_a") || !product.output(0)->type.shape.ranked)
    return r.Skip("the queries are transposed");
  if (product.input(0)->type.shape.rank() < 3 || product.input(1)->type.shape.rank() < 3)
    return r.Skip("queries have rank ", product.input(0)->type.shape.rank());
  const Scaled q = PeelFactor(product.input(0));
  const Keys keys = ReadKeys(product.input(1), product.attrs.Bool("transpose_b"));
  Value* v = root.input(1);
  const DType dtype = root.output(0)->type.dtype;
  if (q.value->type.dtype != dtype || keys.base->type.dtype != dtype) return r.Skip("the types differ");
  const Shape& shape = q.value->type.shape;
  const Shape key_shape = Permuted(keys.base->type.shape, keys.perm);
  if (auto problem = ShapeProblem(shape, key_shape, v->type.shape); !problem.empty()) return r.Skip(problem);
  if (auto problem = MaskProblem(scores, dtype); !problem.empty()) return r.Skip(problem);
  const double scale = scores.scale * q.factor * keys.factor;
  if (scale == 0) return r.Skip("the scale is 0");
  Value* k = keys.perm.empty() ? keys.base : r.Op("Transpose", {keys.base}, {{"perm", keys.perm}});
  Value* mask = WithHeads(r, JoinMasks(r, scores, dtype), shape.rank());
  AttrList attrs = {
      {"scale", AttributeScale(scale, shape[-1])}, {"softcap", scores.softcap}, {"guarded", p.guarded}};
  if (shape.rank() == 3)
    attrs.insert(attrs.end(), {{"q_heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"merged", true}});
  Value* queries = q.value;
  if (scores.head_scale)
    queries = r.Op("Binary", {queries, scores.head_scale}, {{"kind", std::string("mul")}});
  std::vector<Value*> inputs = {queries, k, v};
  if (mask) inputs.push_back(mask);
  return r.Replace(r.Op("Attention", inputs, attrs));
}

}  // namespace

TERN_RULE(RecomposeAttention) {
  return Rule{
      .summary = "softmax(q * keys * scale + mask) * v is Attention, in all forms that exporters write",
      .level = Level::kExtended,
      .roots = {"MatMul"},
      .apply = RecomposeAttentionAt,
      .example =
          R"(graph @attention(%q: f32[N,8,L,64], %k: f32[N,8,S,64], %v: f32[N,8,S,64], %mask: f32[N,1,1,S]) -> (%y) {
  #scale: f32[] = (0.125)
  %t = Transpose(%k) {perm=[0,1,3,2]}
  %p = Softmax(MatMul(%q, %t) * #scale + %mask) {axis=-1}
  %y = MatMul(%p, %v)
})"};
}

}  // namespace tern
