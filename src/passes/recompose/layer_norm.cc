// LayerNorm and RmsNorm, spelled out.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// root = x * (variance + epsilon)^-1/2
struct Normalised {
  Value* x = nullptr;
  Value* mean_square = nullptr;
  double epsilon = 0;
};

// What v is the square root of.
Value* UnderRoot(Value* v) {
  if (!OnlyUse(v)) return nullptr;
  if (const Node* n = MadeBy(v, "Unary", "sqrt")) return n->input(0);
  const Node* n = MadeBy(v, "Binary", "pow");
  return n && IsScalar(n->input(1), 0.5) ? n->input(0) : nullptr;
}

// What v is one over the square root of.
Value* UnderInverseRoot(Value* v) {
  if (!OnlyUse(v)) return nullptr;
  if (const Node* n = MadeBy(v, "Unary", "reciprocal")) return UnderRoot(n->input(0));
  if (const Node* n = MadeBy(v, "Binary", "div"); n && IsScalar(n->input(0), 1))
    return UnderRoot(n->input(1));
  if (const Node* n = MadeBy(v, "Unary", "sqrt"); n && OnlyUse(n->input(0)))
    if (const Node* inverse = MadeBy(n->input(0), "Unary", "reciprocal")) return inverse->input(0);
  const Node* n = MadeBy(v, "Binary", "pow");
  return n && IsScalar(n->input(1), -0.5) ? n->input(0) : nullptr;
}

std::optional<Normalised> Split(Value* x, Value* under) {
  const Node* sum = MadeBy(under, "Binary", "add");
  if (!sum || !OnlyUse(under)) return std::nullopt;
  for (int side : {0, 1})
    if (const auto epsilon = ScalarOf(sum->input(side))) return Normalised{x, sum->input(1 - side), *epsilon};
  return std::nullopt;
}

std::optional<Normalised> NormalisedAt(const Node& root) {
  Value *a = root.input(0), *b = root.input(1);
  if (KindName(root) == "div") {
    Value* under = UnderRoot(b);
    return under ? Split(a, under) : std::nullopt;
  }
  for (const auto& [x, factor] : {std::pair(a, b), std::pair(b, a)})
    if (Value* under = UnderInverseRoot(factor)) return Split(x, under);
  return std::nullopt;
}

// What v is the mean of, over constant axes that are kept.
struct Mean {
  Value* x = nullptr;
  std::vector<int64_t> axes;  // counted from the front, ascending
};

std::optional<Mean> MeanOf(Value* v) {
  const Node* n = MadeBy(v, "Reduce", "mean");
  if (!n || !n->attrs.Bool("keep_dims")) return std::nullopt;
  const auto axes = IntsOf(n->input(1));
  if (!axes || axes->empty()) return std::nullopt;
  Mean mean{n->input(0), {}};
  for (int64_t axis : *axes) {
    const auto from_front = AxisOf(axis, mean.x);
    if (!from_front) return std::nullopt;
    mean.axes.push_back(*from_front);
  }
  std::sort(mean.axes.begin(), mean.axes.end());
  return mean;
}

// The mean square over the axes of what is returned.
std::optional<Mean> MeanSquareOf(Value* v) {
  auto mean = MeanOf(v);
  if (!mean || !OnlyUse(v)) return std::nullopt;
  const Node* square = mean->x->producer;
  if (!square || !OnlyUse(mean->x)) return std::nullopt;
  const bool power = IsOp(*square, "Binary", "pow") && IsScalar(square->input(1), 2);
  const bool product = IsOp(*square, "Binary", "mul") && square->input(0) == square->input(1);
  if (!power && !product) return std::nullopt;
  mean->x = square->input(0);
  return mean;
}

// The first axis, when the axes are all from there to the end.
std::optional<int64_t> LastAxes(const std::vector<int64_t>& axes, int rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
  return axes[0];
}

std::optional<Value*> CentredOf(Value* d, const std::vector<int64_t>& axes) {
  const Node* sub = MadeBy(d, "Binary", "sub");
  if (!sub) return std::nullopt;
  const auto mean = MeanOf(sub->input(1));
  if (!mean || mean->x != sub->input(0) || mean->axes != axes) return std::nullopt;
  return sub->input(0);
}

// Moves the axes to the end, normalises, and moves them back.
Value* Emit(Rewrite& r, const char* op, Value* x, const std::vector<int64_t>& axes, double epsilon) {
  const int rank = x->type.shape.rank();
  const auto count = static_cast<int64_t>(axes.size());
  const AttrList attrs = {{"axis", -count}, {"epsilon", epsilon}};
  if (LastAxes(axes, rank)) return r.Op(op, {x}, attrs);
  std::vector<int64_t> perm, back(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) perm.push_back(i);
  perm.insert(perm.end(), axes.begin(), axes.end());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Value* moved = r.Op("Transpose", {x}, {{"perm", perm}});
  return r.Op("Transpose", {r.Op(op, {moved}, attrs)}, {{"perm", back}});
}

struct Found {
  Value* x;  // without its mean, for LayerNorm
  Mean mean;
  double epsilon;
};

std::optional<Found> Find(Rewrite& r) {
  const auto parts = NormalisedAt(r.root());
  if (!parts || !IsFloatValue(r.root().output(0))) {
    r.Skip("not a value over the root of another plus a number");
    return std::nullopt;
  }
  auto mean = MeanSquareOf(parts->mean_square);
  if (!mean || mean->x != parts->x) {
    r.Skip("what is under the root is not the mean of the squares of what is divided, read nowhere else");
    return std::nullopt;
  }
  if (!parts->x->type.shape.ranked) {
    r.Skip("the rank is not known");
    return std::nullopt;
  }
  return Found{parts->x, *mean, parts->epsilon};
}

bool RecomposeLayerNormAt(Rewrite& r) {
  const auto found = Find(r);
  if (!found) return false;
  const auto x = CentredOf(found->x, found->mean.axes);
  if (!x) return r.Skip("the mean over the same axes was not taken off first");
  return r.Replace(Emit(r, "LayerNorm", *x, found->mean.axes, found->epsilon));
}

bool RecomposeRmsNormAt(Rewrite& r) {
  const auto found = Find(r);
  if (!found) return false;
  if (CentredOf(found->x, found->mean.axes)) return r.Skip("this is a LayerNorm");
  if (!LastAxes(found->mean.axes, found->x->type.shape.rank())) return r.Skip("not the last axes");
  return r.Replace(Emit(r, "RmsNorm", found->x, found->mean.axes, found->epsilon));
}

}  // namespace

TERN_RULE(RecomposeLayerNorm) {
  return Rule{
      .summary =
          "(x - mean) / sqrt(variance + epsilon) is LayerNorm; other axes than the last are moved there",
      .level = Level::kExtended,
      .roots = {"Binary:div", "Binary:mul"},
      .apply = RecomposeLayerNormAt,
      .example = R"(graph @norm(%x: f32[N,128,768]) -> (%y) {
  #two: f32[] = (2)  #eps: f32[] = (1e-5)  #axes: i64[1] = (-1)
  %d = %x - ReduceMean(%x, #axes)
  %y = %d / Sqrt(ReduceMean(Pow(%d, #two), #axes) + #eps)
})"};
}

TERN_RULE(RecomposeRmsNorm) {
  return Rule{.summary = "x / sqrt(mean(x * x) + epsilon) is RmsNorm",
              .level = Level::kExtended,
              .roots = {"Binary:div", "Binary:mul"},
              .apply = RecomposeRmsNormAt,
              .example = R"(graph @norm(%x: f32[N,128,768]) -> (%y) {
  #two: f32[] = (2)  #eps: f32[] = (1e-6)  #axes: i64[1] = (-1)
  %y = %x * Reciprocal(Sqrt(ReduceMean(Pow(%x, #two), #axes) + #eps))
})"};
}

}  // namespace tern
