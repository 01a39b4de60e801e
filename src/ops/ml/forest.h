// Decision trees in arrays: what TreeEnsemble and TreeEnsembleClassifier share.
#pragma once
#include <string>
#include <vector>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

// Nodes are numbered from 0. A child below 0 is leaf -1 - child; so is a root.
struct Forest {
  std::vector<int64_t> roots, feature, mode, true_child, false_child, missing_true;
  Tensor value;                     // thresholds, f32 or f64 [nodes]
  std::vector<int64_t> leaf_start;  // leaf i has votes leaf_start[i] up to leaf_start[i+1]
  std::vector<int64_t> vote_target;
  Tensor vote_weight;  // f32 or f64 [votes]
  std::vector<int64_t>
      member_start;  // the k-th member node's set is member[member_start[k]] up to member_start[k+1]
  Tensor member;

  template <class V> void Visit(V& v) {
    v("roots", roots, "the first node of each tree; below 0: leaf -1 - root");
    v("feature", feature, "the column each node tests");
    v("mode", mode, "the test: 0 <=, 1 <, 2 >=, 3 >, 4 ==, 5 !=, 6 is in a set");
    v("value", value, "what each node compares with");
    v("true_child", true_child, "next node where the test holds; below 0: leaf -1 - child");
    v("false_child", false_child, "next node where it does not");
    v("missing_true", missing_true, "1: NaN counts as true, per node; empty: never");
    v("leaf_start", leaf_start, "first vote of each leaf, and the number of votes");
    v("vote_target", vote_target, "the target each vote is for");
    v("vote_weight", vote_weight, "what each vote adds");
    v("member_start", member_start,
      "first member of each set, in the order of their nodes, and the number of members");
    v("member", member, "members of the sets");
  }

  int64_t leaves() const { return leaf_start.empty() ? 0 : static_cast<int64_t>(leaf_start.size()) - 1; }
};

// What a row's votes for a target have come to.
struct VoteSum {
  double sum = 0;
  bool given = false;
};

// Sizes agree, indices are in range, every node is reached once: no walk can leave the arrays or go on for
// ever.
Status CheckForest(const Forest& forest, int64_t targets);

// A forest unpacked for walking. The forest must have passed CheckForest and outlive this.
class ForestWalker {
 public:
  explicit ForestWalker(const Forest& forest);
  // Features needed: the largest tested column plus one.
  int64_t columns() const { return columns_; }
  // The leaf that a row ends in. Rows come in the type of the thresholds.
  int64_t LeafOf(int64_t root, const double* row) const;

 private:
  struct Node {
    int64_t feature, on_true, on_false;
    double value;
    Branch mode;
    bool missing_true;
    int64_t set_begin = 0, set_end = 0;
  };
  bool Holds(const Node& node, double x) const;
  std::vector<Node> nodes_;
  std::vector<double> members_;
  int64_t columns_ = 0;
};

// x as rows: [N, F], or [F] for one row. Rounded to f32 where thresholds are f32.
struct Rows {
  int64_t count = 0, width = 0;
  std::vector<double> data;
  const double* Row(int64_t i) const { return data.data() + i * width; }
};
Result<Rows> RowsOf(const Tensor& x);
// The number of rows of x, and a check of its rank and width.
Result<Dim> RowCount(const InferContext& c, int64_t columns);

}  // namespace tern
