#include "passes/rewrite/views.h"

#include <algorithm>

namespace tern {
namespace {

bool HasEmptyDim(const Shape& s) {
  return std::any_of(s.dims.begin(), s.dims.end(), [](const Dim& d) { return d.Is(0); });
}

// Returns the axes of `larger` at which dims of 1 must be inserted into `smaller` to get `larger`. Returns
// nullopt if this is not possible.
std::optional<std::vector<int64_t>> OnesBetween(const Shape& smaller, const Shape& larger) {
  std::vector<int64_t> axes;
  int at = 0;
  for (int i = 0; i < larger.rank(); ++i) {
    if (at < smaller.rank() && smaller[at] == larger[i])
      ++at;
    else if (larger[i].Is(1))
      axes.push_back(i);
    else
      return std::nullopt;
  }
  if (at < smaller.rank()) return std::nullopt;
  return axes;
}

}  // namespace

std::optional<std::vector<int64_t>> ReshapeNumbers(const Shape& from, const Shape& to) {
  if (!from.ranked || !to.ranked || HasEmptyDim(from) || HasEmptyDim(to)) return std::nullopt;
  int open = 0;  // number of unknown or symbolic dims
  for (const Dim& d : to.dims) open += !d.known();
  std::vector<int64_t> numbers;
  int inferred = 0;
  for (int i = 0; i < to.rank(); ++i) {
    const bool stays = i < from.rank() && from[i] == to[i];
    // A single unknown dim becomes -1. It could be 0 if it stays, but a 0 would be wrong after another rule
    // has reshaped the input.
    const int64_t n = to[i].known() ? to[i].value() : stays && open > 1 ? 0 : -1;
    inferred += n == -1;
    numbers.push_back(n);
  }
  if (inferred > 1) return std::nullopt;
  return numbers;
}

Value* ViewAs(Rewrite& rewrite, Value* x, const Shape& to) {
  const Shape& from = x->type.shape;
  if (!x->type.tensor() || !from.ranked || !to.ranked) return nullptr;
  if (from == to) return x;
  if (const auto numbers = ReshapeNumbers(from, to))
    return rewrite.Op("Reshape", {x, rewrite.Ints(*numbers)});
  if (from.rank() < to.rank()) {
    const auto axes = OnesBetween(from, to);
    return axes ? rewrite.Op("Unsqueeze", {x, rewrite.Ints(*axes)}) : nullptr;
  }
  const auto axes = OnesBetween(to, from);
  return axes ? rewrite.Op("Squeeze", {x, rewrite.Ints(*axes)}) : nullptr;
}

std::optional<std::vector<int64_t>> ExpandNumbers(const Shape& from, const Shape& to) {
  if (!from.ranked || !to.ranked) return std::nullopt;
  std::vector<int64_t> numbers(static_cast<size_t>(to.rank()), 1);
  for (int i = 1; i <= to.rank(); ++i) {
    if (i <= from.rank() && from[-i] == to[-i]) continue;
    if (!to[-i].known()) return std::nullopt;
    numbers[static_cast<size_t>(to.rank() - i)] = to[-i].value();
  }
  return numbers;
}

bool SameButForOnes(const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked) return false;
  const int common = std::min(a.rank(), b.rank());
  for (int i = 1; i <= std::max(a.rank(), b.rank()); ++i) {
    if (i <= common && a[-i] == b[-i]) continue;
    if (i <= common || !(i <= a.rank() ? a : b)[-i].Is(1)) return false;
  }
  return true;
}

bool IsView(const Node& node) { return node.op->Is(kView) && node.input(0) && node.input(0)->type.tensor(); }

Node* MadeByView(const Value* v) { return v && v->producer && IsView(*v->producer) ? v->producer : nullptr; }

std::optional<Permutation> PermutationOf(const Node& transpose) {
  const Value* y = transpose.output(0);
  Permutation p = transpose.attrs.Ints("perm");
  if (!y->type.shape.ranked) return std::nullopt;
  const int rank = y->type.shape.rank();
  if (p.empty())
    for (int i = rank; i-- > 0;) p.push_back(i);
  for (int64_t& axis : p) axis += axis < 0 ? rank : 0;
  return p;
}

bool IsIdentity(const Permutation& p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Permutation Compose(const Permutation& p, const Permutation& q) {
  Permutation out;
  for (int64_t i : q) out.push_back(p[static_cast<size_t>(i)]);
  return out;
}

Permutation Inverse(const Permutation& p) {
  Permutation out(p.size());
  for (size_t i = 0; i < p.size(); ++i) out[static_cast<size_t>(p[i])] = static_cast<int64_t>(i);
  return out;
}

bool OnlyOnesMove(const Permutation& perm, const Shape& x) {
  int64_t last = -1;
  for (int64_t p : perm) {
    if (x[static_cast<int>(p)].Is(1)) continue;
    if (p < last) return false;
    last = p;
  }
  return true;
}

}  // namespace tern
