#include "ops/ml/forest.h"

#include <algorithm>
#include <cmath>

namespace tern {
namespace {

Status CheckSizes(const Forest& f) {
  const size_t n = f.feature.size();
  const auto bad = [&](const char* name, size_t size) {
    return InvalidModel("attribute '", name, "' has ", size, " entries for ", n, " nodes");
  };
  if (f.mode.size() != n) return bad("mode", f.mode.size());
  if (f.true_child.size() != n) return bad("true_child", f.true_child.size());
  if (f.false_child.size() != n) return bad("false_child", f.false_child.size());
  if (!f.missing_true.empty() && f.missing_true.size() != n)
    return bad("missing_true", f.missing_true.size());
  if ((n || f.value.defined()) && static_cast<size_t>(f.value.size()) != n)
    return bad("value", static_cast<size_t>(f.value.size()));
  const size_t weights = f.vote_weight.defined() ? static_cast<size_t>(f.vote_weight.size()) : 0;
  if (weights != f.vote_target.size())
    return InvalidModel(weights, " vote weights for ", f.vote_target.size(), " vote targets");
  for (const Tensor* t : {&f.value, &f.vote_weight, &f.member})
    if (t->defined() && t->dtype() != DType::kF32 && t->dtype() != DType::kF64)
      return InvalidModel("thresholds, weights and members must be f32 or f64, got ", t->Describe());
  return {};
}

// Checks that the start offsets begin with 0, do not decrease, and end with `total`.
Status CheckStarts(const char* name, const std::vector<int64_t>& starts, size_t total) {
  if (starts.empty())
    return total ? InvalidModel("attribute '", name, "' is empty, but must split ", total, " entries")
                 : Status();
  if (starts.front() != 0 || starts.back() != static_cast<int64_t>(total) ||
      !std::is_sorted(starts.begin(), starts.end()))
    return InvalidModel("attribute '", name, "' must be non-decreasing from 0 to ", total);
  return {};
}

Status CheckValues(const Forest& f, int64_t targets) {
  size_t sets = 0;
  for (size_t i = 0; i < f.feature.size(); ++i) {
    if (f.feature[i] < 0)
      return InvalidModel("node ", i, " tests feature ", f.feature[i], ", which is negative");
    if (f.mode[i] < 0 || f.mode[i] > static_cast<int64_t>(Branch::kMember))
      return InvalidModel("node ", i, " has mode ", f.mode[i], ", but the mode must be from 0 to 6");
    sets += f.mode[i] == static_cast<int64_t>(Branch::kMember);
  }
  const size_t given = f.member_start.empty() ? 0 : f.member_start.size() - 1;
  if (sets != given) return InvalidModel(given, " sets for ", sets, " nodes that test membership");
  for (int64_t t : f.vote_target)
    if (t < 0 || t >= targets)
      return InvalidModel("a leaf votes for target ", t, ", but there are ", targets, " targets");
  return {};
}

// Checks that every node is reached at most once from all roots, so that the nodes form trees.
Status CheckTrees(const Forest& f) {
  const auto nodes = static_cast<int64_t>(f.feature.size());
  std::vector<char> seen(f.feature.size(), 0);
  std::vector<int64_t> todo = f.roots;
  while (!todo.empty()) {
    const int64_t at = todo.back();
    todo.pop_back();
    if (at < 0) {
      if (-1 - at >= f.leaves()) return InvalidModel("leaf ", -1 - at, " of ", f.leaves(), " does not exist");
      continue;
    }
    if (at >= nodes) return InvalidModel("node ", at, " of ", nodes, " does not exist");
    if (seen[static_cast<size_t>(at)]++)
      return InvalidModel("node ", at, " is reached twice: the nodes do not form trees");
    todo.push_back(f.true_child[static_cast<size_t>(at)]);
    todo.push_back(f.false_child[static_cast<size_t>(at)]);
  }
  return {};
}

}  // namespace

Status CheckForest(const Forest& f, int64_t targets) {
  TERN_TRY(CheckSizes(f));
  TERN_TRY(CheckStarts("leaf_start", f.leaf_start, f.vote_target.size()));
  TERN_TRY(CheckStarts("member_start", f.member_start,
                       f.member.defined() ? static_cast<size_t>(f.member.size()) : 0));
  TERN_TRY(CheckValues(f, targets));
  return CheckTrees(f);
}

ForestWalker::ForestWalker(const Forest& f) {
  const auto values = f.value.defined() ? ToDoubles(f.value) : std::vector<double>();
  if (f.member.defined()) members_ = ToDoubles(f.member);
  size_t set = 0;
  for (size_t i = 0; i < f.feature.size(); ++i) {
    Node n{f.feature[i],
           f.true_child[i],
           f.false_child[i],
           values[i],
           static_cast<Branch>(f.mode[i]),
           !f.missing_true.empty() && f.missing_true[i] != 0};
    if (n.mode == Branch::kMember) {
      n.set_begin = f.member_start[set++];
      n.set_end = f.member_start[set];
    }
    columns_ = std::max(columns_, n.feature + 1);
    nodes_.push_back(n);
  }
}

bool ForestWalker::Holds(const Node& n, double x) const {
  if (n.missing_true && std::isnan(x)) return true;
  switch (n.mode) {
    case Branch::kLeq:
      return x <= n.value;
    case Branch::kLt:
      return x < n.value;
    case Branch::kGte:
      return x >= n.value;
    case Branch::kGt:
      return x > n.value;
    case Branch::kEq:
      return x == n.value;
    case Branch::kNeq:
      return x != n.value;
    case Branch::kMember:
      return std::find(members_.begin() + n.set_begin, members_.begin() + n.set_end, x) !=
             members_.begin() + n.set_end;
  }
  return false;
}

int64_t ForestWalker::LeafOf(int64_t root, const double* row) const {
  int64_t at = root;
  while (at >= 0) {
    const Node& n = nodes_[static_cast<size_t>(at)];
    at = Holds(n, row[n.feature]) ? n.on_true : n.on_false;
  }
  return -1 - at;
}

Result<Rows> RowsOf(const Tensor& x) {
  if (x.rank() != 1 && x.rank() != 2)
    return InvalidArgument("x must be [rows, features] or [features], got ", x.Describe());
  Rows rows;
  rows.count = x.rank() == 1 ? 1 : x.dim(0);
  rows.width = x.dim(-1);
  rows.data.resize(static_cast<size_t>(x.size()));
  const bool integers = IsInt(x.dtype());
  for (size_t i = 0; i < rows.data.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    // Integers are rounded to f32 before they are compared and summed.
    rows.data[i] = integers ? static_cast<double>(static_cast<float>(LoadLong(x, at))) : LoadDouble(x, at);
  }
  return rows;
}

Result<Dim> RowCount(const InferContext& c, int64_t columns) {
  const Shape& x = c.ShapeOf("x");
  if (!x.ranked) return Dim::Unknown();
  if (x.rank() != 1 && x.rank() != 2)
    return InvalidModel("input 'x' must be [rows, features] or [features], got ", c.In("x").ToString());
  if (x[-1].known() && x[-1].value() < columns)
    return InvalidModel("feature ", columns - 1, " is tested, but x has ", x[-1].value(), " features");
  return x.rank() == 1 ? Dim(1) : x[0];
}

}  // namespace tern
