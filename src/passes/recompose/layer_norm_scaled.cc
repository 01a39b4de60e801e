// Recomposes LayerNorm in the form that TensorFlow, Keras and Flax write. There the scale gamma is first
// divided by the standard deviation, and x is multiplied by the quotient.
#include "passes/recompose/moments.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Describes v = gamma / sqrt(variance + epsilon). `of` contains x and the axes of the variance. v may have
// several readers.
struct ScaledRoot {
  Value* gamma = nullptr;  // null if gamma is 1
  Mean of;
  double epsilon = 0;
};

std::optional<ScaledRoot> RootWith(Value* gamma, Value* under) {
  const auto parts = under ? StabilisedOf(under) : std::nullopt;
  const auto variance = parts ? VarianceOf(parts->variance) : std::nullopt;
  return variance ? std::optional<ScaledRoot>({gamma, *variance, parts->epsilon}) : std::nullopt;
}

std::optional<ScaledRoot> ScaledRootOf(Value* v) {
  if (auto plain = RootWith(nullptr, UnderInverseRoot(v))) return plain;
  if (const Node* n = MadeBy(v, "Binary", "div"); n && OnlyUse(n->input(1)))
    return RootWith(n->input(0), UnderRoot(n->input(1)));
  if (const Node* n = MadeBy(v, "Binary", "mul"))
    for (int side : {0, 1})
      if (OnlyUse(n->input(side)))
        if (auto scaled = RootWith(n->input(1 - side), UnderInverseRoot(n->input(side)))) return scaled;
  return std::nullopt;
}

// A term of a sum. If `negative` is true, the value is subtracted.
struct Term {
  Value* value = nullptr;
  bool negative = false;
};

constexpr size_t kMaxTerms = 3;  // the terms are x * root, mean * root and beta

// Splits v into terms at Add, Sub and Neg nodes that have no other reader.
void AddTerms(Value* v, bool negative, std::vector<Term>& terms) {
  const Node* n = OnlyUse(v) && terms.size() <= kMaxTerms ? v->producer : nullptr;
  if (n && IsOp(*n, "Unary", "neg")) return AddTerms(n->input(0), !negative, terms);
  const bool add = n && IsOp(*n, "Binary", "add"), sub = n && IsOp(*n, "Binary", "sub");
  if (!add && !sub) return terms.push_back({v, negative});
  AddTerms(n->input(0), negative, terms);
  AddTerms(n->input(1), negative != sub, terms);
}

// Describes the term factor * root, or -factor * root if `negative` is true. `root` has two readers, because
// the terms with x and with its mean both contain it.
struct ScaledTerm {
  Value* factor = nullptr;
  Value* root = nullptr;
  bool negative = false;
};

std::vector<ScaledTerm> ProductsOf(const Term& term) {
  const Node* n = OnlyUse(term.value) ? MadeBy(term.value, "Binary", "mul") : nullptr;
  std::vector<ScaledTerm> out;
  for (int side : {0, 1}) {
    if (!n || n->input(side)->uses.size() != 2 || n->input(side)->output_uses) continue;
    ScaledTerm p{n->input(1 - side), n->input(side), term.negative};
    if (const Node* minus = OnlyUse(p.factor) ? MadeBy(p.factor, "Unary", "neg") : nullptr)
      p = {minus->input(0), p.root, !p.negative};
    out.push_back(p);
  }
  return out;
}

// Matches x * root - mean(x) * root, where `first` and `second` are the two terms.
std::optional<ScaledRoot> NormOf(const Term& first, const Term& second) {
  for (const ScaledTerm& x : ProductsOf(first))
    for (const ScaledTerm& mean : ProductsOf(second)) {
      if (x.root != mean.root || x.negative || !mean.negative) continue;
      const auto of = MeanOf(mean.factor);
      const auto root = of && of->x == x.factor ? ScaledRootOf(x.root) : std::nullopt;
      if (root && root->of == *of) return root;
    }
  return std::nullopt;
}

bool Emit(Rewrite& r, const ScaledRoot& norm, const Term& beta) {
  if (!norm.of.x->type.shape.ranked) return r.Skip("the rank is not known");
  Value* y = EmitNorm(r, "LayerNorm", norm.of.x, norm.of.axes, norm.epsilon);
  if (norm.gamma) y = r.Op("Binary", {y, norm.gamma}, {{"kind", "mul"}});
  if (beta.value) y = r.Op("Binary", {y, beta.value}, {{"kind", beta.negative ? "sub" : "add"}});
  return r.Replace(y);
}

bool RecomposeShiftedLayerNormAt(Rewrite& r) {
  const Node& root = r.root();
  if (!IsFloatValue(root.output(0))) return r.Skip("the type is not a float");
  std::vector<Term> terms;
  AddTerms(root.input(0), false, terms);
  AddTerms(root.input(1), IsOp(root, "Binary", "sub"), terms);
  if (terms.size() > kMaxTerms) return r.Skip("there are more than three terms");
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t k = 0; k < terms.size(); ++k) {
      const auto norm = i == k ? std::nullopt : NormOf(terms[i], terms[k]);
      if (norm) return Emit(r, *norm, terms.size() == 2 ? Term() : terms[3 - i - k]);
    }
  return r.Skip(
      "the sum is not x * root - mean(x) * root, where root is one over the standard deviation of x and is read "
      "nowhere else");
}

bool RecomposeScaledLayerNormAt(Rewrite& r) {
  const Node& root = r.root();
  if (!IsFloatValue(root.output(0))) return r.Skip("the type is not a float");
  for (int side : {0, 1}) {
    Value *factor = root.input(side), *centred = root.input(1 - side);
    const auto norm = OnlyUse(factor) ? ScaledRootOf(factor) : std::nullopt;
    if (!norm || !norm->gamma) continue;
    if (CentredOf(centred, norm->of.axes) != norm->of.x)
      return r.Skip("the other factor is not the value minus its mean over the same axes");
    return Emit(r, *norm, Term());
  }
  return r.Skip(
      "neither factor is a scale divided by the standard deviation of a value, or that factor is read elsewhere");
}

}  // namespace

TERN_RULE(RecomposeShiftedLayerNorm) {
  return Rule{
      .summary =
          "x * root + (beta - mean * root) with root = gamma / sqrt(variance + epsilon) is LayerNorm, "
          "as TensorFlow and Keras write it",
      .level = Level::kExtended,
      .roots = {"Binary:add", "Binary:sub"},
      .apply = RecomposeShiftedLayerNormAt,
      .example = R"(graph @norm(%x: f32[N,128,4]) -> (%y) {
  #gamma: f32[4] = (1, 0.5, 2, 0.25)  #beta: f32[4] = (0, 1, 2, 3)  #eps: f32[] = (1e-3)  #axes: i64[1] = (-1)
  %mean = ReduceMean(%x, #axes)
  %d = %x - %mean
  %root = Reciprocal(Sqrt(ReduceMean(%d * %d, #axes) + #eps)) * #gamma
  %y = %x * %root + (#beta - %mean * %root)
})"};
}

TERN_RULE(RecomposeScaledLayerNorm) {
  return Rule{.summary =
                  "(x - mean) * (gamma / sqrt(variance + epsilon)) is LayerNorm times gamma, as "
                  "Flax writes it",
              .level = Level::kExtended,
              .roots = {"Binary:mul"},
              .apply = RecomposeScaledLayerNormAt,
              .example = R"(graph @norm(%x: f32[N,128,4]) -> (%y) {
  #gamma: f32[4] = (1, 0.5, 2, 0.25)  #eps: f32[] = (1e-6)  #zero: f32[] = (0)  #axes: i64[1] = (-1)
  %mean = ReduceMean(%x, #axes)
  %variance = Max(ReduceMean(%x * %x, #axes) - %mean * %mean, #zero)
  %y = (%x - %mean) * (Reciprocal(Sqrt(%variance + #eps)) * #gamma)
})"};
}

}  // namespace tern
