#include "kernels/cpu/ml/trees.h"

#include <algorithm>
#include <cmath>

namespace tern::cpu {
namespace {

constexpr int kAtOnce = 8;  // rows that are walked together, so that their loads overlap

template <class T> bool Holds(const Trees<T>& trees, int32_t at, T x) {
  const auto& test = trees.tests[static_cast<size_t>(at)];
  const T value = trees.nodes[static_cast<size_t>(at)].value;
  if (test.missing_holds && std::isnan(x)) return true;
  switch (test.kind) {
    case TreeTest::kLeq:
      return x <= value;
    case TreeTest::kLt:
      return x < value;
    case TreeTest::kGte:
      return x >= value;
    case TreeTest::kGt:
      return x > value;
    case TreeTest::kEq:
      return x == value;
    case TreeTest::kNeq:
      return x != value;
    case TreeTest::kMember:
      break;
  }
  const auto end = trees.members.begin() + test.set_end;
  return std::find(trees.members.begin() + test.set_begin, end, x) != end;
}

template <class T> int32_t WalkRow(const Trees<T>& trees, int32_t at, const T* x) {
  while (at >= 0) {
    const TreeNode<T>& node = trees.nodes[static_cast<size_t>(at)];
    const T v = x[node.feature];
    at = node.next[trees.tests.empty() ? v <= node.value : Holds(trees, at, v)];
  }
  return -1 - at;
}

// Walks kAtOnce rows together, one node per iteration. A row that has reached a leaf stays there.
template <class T>
void WalkRows(const TreeNode<T>* nodes, int32_t root, const T* x, int64_t width, int32_t* leaf) {
  int32_t at[kAtOnce];
  std::fill(at, at + kAtOnce, root);
  for (bool open = true; open;) {
    open = false;
    for (int i = 0; i < kAtOnce; ++i) {
      const TreeNode<T>& node = nodes[std::max(at[i], 0)];
      const int32_t next = node.next[x[i * width + node.feature] <= node.value];
      at[i] = at[i] < 0 ? at[i] : next;
      open |= at[i] >= 0;
    }
  }
  for (int i = 0; i < kAtOnce; ++i) leaf[i] = -1 - at[i];
}

}  // namespace

template <class T>
void WalkTree(const Trees<T>& trees, int32_t root, const T* x, int64_t width, int64_t rows, int32_t* leaf) {
  int64_t r = 0;
  if (root >= 0 && trees.tests.empty())
    for (; r + kAtOnce <= rows; r += kAtOnce)
      WalkRows(trees.nodes.data(), root, x + r * width, width, leaf + r);
  for (; r < rows; ++r) leaf[r] = WalkRow(trees, root, x + r * width);
}

template void WalkTree(const Trees<float>&, int32_t, const float*, int64_t, int64_t, int32_t*);
template void WalkTree(const Trees<double>&, int32_t, const double*, int64_t, int64_t, int32_t*);

}  // namespace tern::cpu
