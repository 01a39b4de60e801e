#include "passes/recompose/moments.h"

#include <algorithm>

namespace tern {
namespace {

// If v = x * x or x^2, returns x. Otherwise returns null.
Value* SquareRootOf(Value* v) {
  if (const Node* n = MadeBy(v, "Binary", "pow")) return IsScalar(n->input(1), 2) ? n->input(0) : nullptr;
  const Node* n = MadeBy(v, "Binary", "mul");
  return n && n->input(0) == n->input(1) ? n->input(0) : nullptr;
}

// If v = max(u, 0) or Relu(u), returns u. Otherwise returns v.
Value* WithoutFloorAtZero(Value* v) {
  if (const Node* n = MadeBy(v, "Unary", "relu")) return n->input(0);
  if (const Node* n = MadeBy(v, "Binary", "max"))
    for (int side : {0, 1})
      if (IsScalar(n->input(side), 0)) return n->input(1 - side);
  return v;
}

// A mean. If keep_dims is true, it has dims of 1 for the reduced axes. Otherwise it does not have
// these axes.
struct AnyMean {
  Mean mean;
  bool keep_dims = true;
};

std::optional<AnyMean> AnyMeanOf(Value* v) {
  const Node* n = MadeBy(v, "Reduce", "mean");
  const auto axes = n ? IntsOf(n->input(1)) : std::nullopt;
  if (!axes || axes->empty()) return std::nullopt;
  AnyMean any{{n->input(0), {}}, n->attrs.Bool("keep_dims")};
  for (int64_t axis : *axes) {
    const auto from_front = AxisOf(axis, any.mean.x);
    if (!from_front) return std::nullopt;
    any.mean.axes.push_back(*from_front);
  }
  std::sort(any.mean.axes.begin(), any.mean.axes.end());
  return any;
}

std::optional<AnyMean> AnyMeanSquareOf(Value* v) {
  auto any = AnyMeanOf(v);
  if (!any || !OnlyUse(v) || !OnlyUse(any->mean.x)) return std::nullopt;
  any->mean.x = SquareRootOf(any->mean.x);
  return any->mean.x ? any : std::nullopt;
}

// Matches mean(x * x) - mean(x)^2, optionally clamped at 0.
std::optional<AnyMean> DifferenceOfMoments(Value* v) {
  Value* inside = WithoutFloorAtZero(v);
  const Node* difference = MadeBy(inside, "Binary", "sub");
  if (!difference || !OnlyUse(v) || !OnlyUse(inside) || !OnlyUse(difference->input(1))) return std::nullopt;
  const auto squares = AnyMeanSquareOf(difference->input(0));
  Value* mean = SquareRootOf(difference->input(1));
  const auto of = mean ? AnyMeanOf(mean) : std::nullopt;
  const bool same = squares && of && squares->mean == of->mean && squares->keep_dims == of->keep_dims;
  return same ? squares : std::nullopt;
}

// True if v has the dims of mean.x, with 1 in place of the reduced dims.
bool KeepsAxes(const Value& v, const Mean& mean) {
  const Shape &shape = v.type.shape, &x = mean.x->type.shape;
  if (!shape.ranked || shape.rank() != x.rank()) return false;
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(mean.axes.begin(), mean.axes.end(), i) != mean.axes.end();
    if (!(reduced ? shape[i].Is(1) : shape[i] == x[i])) return false;
  }
  return true;
}

// Returns find(v) if it keeps the reduced axes. If v is a view of u that inserts dims of 1 for the
// reduced axes, returns find(u). Otherwise returns nullopt.
template <class F> std::optional<Mean> WithAxesKept(Value* v, const F& find) {
  if (const auto any = find(v)) return any->keep_dims ? std::optional<Mean>(any->mean) : std::nullopt;
  const Node* view = v->producer && v->producer->op->Is(kView) ? v->producer : nullptr;
  const auto any = view ? find(view->input(0)) : std::nullopt;
  return any && KeepsAxes(*v, any->mean) ? std::optional<Mean>(any->mean) : std::nullopt;
}

}  // namespace

std::optional<Mean> MeanOf(Value* v) { return WithAxesKept(v, AnyMeanOf); }

std::optional<Mean> MeanSquareOf(Value* v) {
  return OnlyUse(v) ? WithAxesKept(v, AnyMeanSquareOf) : std::nullopt;
}

Value* CentredOf(Value* v, const std::vector<int64_t>& axes) {
  const Node* sub = MadeBy(v, "Binary", "sub");
  if (!sub) return nullptr;
  const auto mean = MeanOf(sub->input(1));
  return mean && *mean == Mean{sub->input(0), axes} ? sub->input(0) : nullptr;
}

std::optional<Mean> VarianceOf(Value* v) {
  if (auto squares = MeanSquareOf(v)) {
    // The squares of x - mean and mean - x are equal.
    Value* x = CentredOf(squares->x, squares->axes);
    const Node* sub = MadeBy(squares->x, "Binary", "sub");
    if (!x && sub) {
      const auto mean = MeanOf(sub->input(0));
      if (mean && *mean == Mean{sub->input(1), squares->axes}) x = sub->input(1);
    }
    return x ? std::optional<Mean>({x, squares->axes}) : std::nullopt;
  }
  return OnlyUse(v) ? WithAxesKept(v, DifferenceOfMoments) : std::nullopt;
}

Value* UnderRoot(Value* v) {
  if (const Node* n = MadeBy(v, "Unary", "sqrt")) return n->input(0);
  const Node* n = MadeBy(v, "Binary", "pow");
  return n && IsScalar(n->input(1), 0.5) ? n->input(0) : nullptr;
}

Value* UnderInverseRoot(Value* v) {
  const auto root = [](Value* inner) { return OnlyUse(inner) ? UnderRoot(inner) : nullptr; };
  if (const Node* n = MadeBy(v, "Unary", "reciprocal")) return root(n->input(0));
  if (const Node* n = MadeBy(v, "Binary", "div"); n && IsScalar(n->input(0), 1)) return root(n->input(1));
  if (const Node* n = MadeBy(v, "Unary", "sqrt"); n && OnlyUse(n->input(0)))
    if (const Node* inverse = MadeBy(n->input(0), "Unary", "reciprocal")) return inverse->input(0);
  const Node* n = MadeBy(v, "Binary", "pow");
  return n && IsScalar(n->input(1), -0.5) ? n->input(0) : nullptr;
}

std::optional<Stabilised> StabilisedOf(Value* v) {
  const Node* sum = MadeBy(v, "Binary", "add");
  if (!sum || !OnlyUse(v)) return std::nullopt;
  for (int side : {0, 1})
    if (const auto epsilon = ScalarOf(sum->input(side))) return Stabilised{sum->input(1 - side), *epsilon};
  return std::nullopt;
}

bool AreLastAxes(const std::vector<int64_t>& axes, int rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return false;
  return true;
}

Value* EmitNorm(Rewrite& r, const char* op, Value* x, const std::vector<int64_t>& axes, double epsilon) {
  const int rank = x->type.shape.rank();
  const auto count = static_cast<int64_t>(axes.size());
  const AttrList attrs = {{"axis", -count}, {"epsilon", epsilon}};
  if (AreLastAxes(axes, rank)) return r.Op(op, {x}, attrs);
  std::vector<int64_t> perm, back(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) perm.push_back(i);
  perm.insert(perm.end(), axes.begin(), axes.end());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Value* moved = r.Op("Transpose", {x}, {{"perm", perm}});
  return r.Op("Transpose", {r.Op(op, {moved}, attrs)}, {{"perm", back}});
}

}  // namespace tern
