// Decision trees as arrays, which TreeEnsemble and TreeEnsembleClassifier share.
#pragma once
#include <string>
#include <vector>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

// Nodes are numbered from 0. If a child or root is a negative number c, it is leaf -1 - c.
struct Forest {
  std::vector<int64_t> roots, feature, mode, true_child, false_child, missing_true;
  Tensor value;                     // thresholds, f32 or f64 [nodes]
  std::vector<int64_t> leaf_start;  // leaf i has votes [leaf_start[i], leaf_start[i+1])
  std::vector<int64_t> vote_target;
  Tensor vote_weight;                 // f32 or f64 [votes]
  std::vector<int64_t> member_start;  // set k is [member_start[k], member_start[k+1]) of member
  Tensor member;

  template <class V> void Visit(V& v) {
    v("roots", roots, "the root node of each tree; negative means leaf -1 - root");
    v("feature", feature, "the feature that each node tests");
    v("mode", mode,
      "the number of the test of each node; the tests 0 to 6 are <=, <, >=, >, ==, != and membership in a set");
    v("value", value, "the threshold of each node");
    v("true_child", true_child, "the next node if the test is true; negative means leaf -1 - child");
    v("false_child", false_child, "the next node if the test is false");
    v("missing_true", missing_true,
      "per node, 1 means that the test of NaN is true; empty means 0 for all nodes");
    v("leaf_start", leaf_start, "index of the first vote of each leaf, then the number of votes");
    v("vote_target", vote_target, "the target of each vote");
    v("vote_weight", vote_weight, "the weight of each vote");
    v("member_start", member_start,
      "index of the first member of each set, in the order of their nodes, then the number of members");
    v("member", member, "members of the sets");
  }

  int64_t leaves() const { return leaf_start.empty() ? 0 : static_cast<int64_t>(leaf_start.size()) - 1; }
};

// The accumulated votes of a row for one target. `given` is true if there is at least one vote.
struct VoteSum {
  double sum = 0;
  bool given = false;
};

// Checks that sizes match, indices are in range and every node is reached at most once, so that each
// traversal ends and stays inside the arrays.
Status CheckForest(const Forest& forest, int64_t targets);

// A forest prepared for traversal. The forest must have passed CheckForest.
class ForestWalker {
 public:
  explicit ForestWalker(const Forest& forest);
  // The number of features that rows must have: the largest feature index that a node tests, plus 1.
  int64_t columns() const { return columns_; }
  // Returns the leaf that a row reaches from a root.
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

// The input x [rows, features], or [features] for one row, as doubles. Integers are rounded to f32 first.
struct Rows {
  int64_t count = 0, width = 0;
  std::vector<double> data;
  const double* Row(int64_t i) const { return data.data() + i * width; }
};
Result<Rows> RowsOf(const Tensor& x);
// Returns the number of rows of x. Fails if x is neither [rows, features] nor [features], or has fewer than
// `columns` features.
Result<Dim> RowCount(const InferContext& c, int64_t columns);

}  // namespace tern
