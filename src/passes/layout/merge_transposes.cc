// Merges two Transposes with a Reshape between them, if the Reshape only splits and merges dims. For example,
// a Reshape from [6,4] to [2,12] has the factors [2,3,4]. One Transpose of these factors replaces the two
// Transposes.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// A common factor of a dim before and a dim after a view.
struct Factor {
  Dim size;
  int from, to;  // the dims that contain the factor
};

// Returns the factors in row-major order. For example, [6,4] to [2,12] has the factors 2, 3, 4. Dims of size
// 1 have no factor. Returns nullopt if the dims do not split into common factors.
std::optional<std::vector<Factor>> FactorsOf(const Shape& from, const Shape& to) {
  std::vector<Factor> factors;
  int i = 0, j = 0;
  Dim a, b;  // from[i] and to[j] divided by their listed factors
  while (true) {
    if (a.unknown()) {
      while (i < from.rank() && from[i].Is(1)) ++i;
      a = i < from.rank() ? from[i] : Dim();
    }
    if (b.unknown()) {
      while (j < to.rank() && to[j].Is(1)) ++j;
      b = j < to.rank() ? to[j] : Dim();
    }
    if (i == from.rank() && j == to.rank()) return factors;
    if (i == from.rank() || j == to.rank()) return std::nullopt;
    const bool numbers = a.known() && b.known() && a.value() > 0 && b.value() > 0;
    if (!(a == b) && !(numbers && (a.value() % b.value() == 0 || b.value() % a.value() == 0)))
      return std::nullopt;
    const Dim size = a == b || a.value() < b.value() ? a : b;
    factors.push_back({size, i, j});
    const bool ends_a = a == size, ends_b = b == size;
    a = ends_a ? Dim() : Dim(a.value() / size.value());
    b = ends_b ? Dim() : Dim(b.value() / size.value());
    i += ends_a, j += ends_b;
  }
}

bool MovesElements(const Permutation& perm, const Shape& x) {
  int64_t last = -1;
  for (int64_t p : perm) {
    if (x[static_cast<int>(p)].Is(1)) continue;
    if (p < last) return true;
    last = p;
  }
  return false;
}

// Returns the indices of the factors of dims[0], then those of dims[1], and so on. `side` is &Factor::from or
// &Factor::to.
std::vector<size_t> InOrder(const std::vector<Factor>& factors, const Permutation& dims, int Factor::*side) {
  std::vector<size_t> order;
  for (int64_t d : dims)
    for (size_t i = 0; i < factors.size(); ++i)
      if (factors[i].*side == d) order.push_back(i);
  return order;
}

// A Transpose of a tensor with the dims `before`.
struct Move {
  std::vector<Dim> before;
  Permutation perm;
};
// Returns the Transpose that changes the order of the factors from `first` to `second`. Factors that stay
// adjacent form one dim.
Move MoveOf(const std::vector<Factor>& factors, const std::vector<size_t>& first,
            const std::vector<size_t>& second) {
  std::vector<size_t> position(factors.size());
  for (size_t i = 0; i < first.size(); ++i) position[first[i]] = i;
  std::vector<std::pair<size_t, Dim>> dims;  // position in `first` and size of each dim of the result
  for (size_t i = 0; i < second.size(); ++i) {
    const bool follows = i > 0 && position[second[i]] == position[second[i - 1]] + 1;
    if (follows)
      dims.back().second = dims.back().second * factors[second[i]].size;
    else
      dims.emplace_back(position[second[i]], factors[second[i]].size);
  }
  auto sorted = dims;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Move move;
  for (const auto& [begin, size] : sorted) move.before.push_back(size);
  for (const auto& [begin, size] : dims)
    move.perm.push_back(std::count_if(sorted.begin(), sorted.end(),
                                      [at = begin](const auto& other) { return other.first < at; }));
  return move;
}

bool Merge(Rewrite& r) {
  Node& last = r.root();
  const Value* viewed = last.input(0);
  const Node* view = MadeByView(viewed);
  const Node* first = view ? MadeBy(view->input(0), "Transpose") : nullptr;
  if (!first) return r.Skip("the input is not a view of a Transpose");
  if (!OnlyUse(viewed) || !OnlyUse(view->input(0)))
    return r.Skip("a value between the Transposes is also read by another node");
  const auto p = PermutationOf(*first), q = PermutationOf(last);
  if (!p || !q) return r.Skip("the rank is not known");
  Value* x = first->input(0);
  const Shape &from = view->input(0)->type.shape, &to = viewed->type.shape;
  if (!MovesElements(*p, x->type.shape) || !MovesElements(*q, to))
    return r.Skip("one of the Transposes moves no data");
  const auto factors = FactorsOf(from, to);
  if (!factors) return r.Skip("the dims have no common factors");
  const Move move =
      MoveOf(*factors, InOrder(*factors, Inverse(*p), &Factor::from), InOrder(*factors, *q, &Factor::to));
  if (!IsIdentity(move.perm)) {
    x = ViewAs(r, x, Shape(move.before));
    if (!x) return r.Skip("the dims cannot be expressed with constants");
    x = r.Op("Transpose", {x}, {{"perm", move.perm}});
  }
  Value* y = ViewAs(r, x, last.output(0)->type.shape);
  return y ? r.Replace(y) : r.Skip("the dims cannot be expressed with constants");
}

}  // namespace

TERN_RULE(MergeTransposesAroundView) {
  return Rule{.summary = "Transposes with a Reshape between them are one Transpose of the dims' factors",
              .level = Level::kLayout,
              .roots = {"Transpose"},
              .apply = Merge,
              .example = R"(graph @g(%x: f32[1,8,8,6]) -> (%y) {
  #parts: i64[4] = (24,2,4,2)
  %y = Transpose(Reshape(Transpose(%x) {perm=[0,3,1,2]}, #parts)) {perm=[0,2,1,3]}
})"};
}

}  // namespace tern
