// Decision trees in flat arrays, walked for many rows at once.
#pragma once
#include <cstdint>
#include <vector>

namespace tern::cpu {

enum class TreeTest : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

// T is the type of thresholds and rows: float or double.
template <class T> struct TreeNode {
  T value;
  int32_t feature;
  int32_t next[2];  // next[0] if the test fails, next[1] if it holds; a negative value n means leaf -1 - n
};

template <class T> struct Trees {
  struct Test {
    TreeTest kind;
    bool missing_holds;          // the test holds for NaN
    int32_t set_begin, set_end;  // the set of a kMember test: a range of `members`
  };
  std::vector<TreeNode<T>> nodes;
  std::vector<int32_t> roots;  // index in `nodes`; a negative value n means leaf -1 - n
  std::vector<Test> tests;     // one per node; if empty, all tests are x <= value, and NaN fails them
  std::vector<T> members;      // elements of the sets of kMember tests
};

// Sets leaf[r] to the leaf that row r of x [rows, width] reaches. Nodes must form trees, and
// TreeNode::feature must be less than `width`.
template <class T>
void WalkTree(const Trees<T>& trees, int32_t root, const T* x, int64_t width, int64_t rows, int32_t* leaf);

}  // namespace tern::cpu
