// Iteration over broadcast operands. Adjacent axes are merged if the strides of all operands allow it. Then
// the result is visited row by row.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/thread_pool.h"
#include "core/tensor.h"

namespace tern::cpu {

constexpr int kMaxRank = 16;

// Describes how N contiguous operands broadcast to one contiguous result. steps[axis][i] is the stride of
// operand i along an axis, or 0 if the operand repeats along this axis. The steps of the last axis are 0 or
// 1.
template <int N> struct Broadcast {
  int rank = 1;
  int64_t count = 0;  // elements of the result
  std::array<int64_t, kMaxRank> dims{1};
  std::array<std::array<int64_t, N>, kMaxRank> steps{};
  // Returns whether every operand has the result's dims or one element.
  bool plain() const { return rank == 1; }
};

namespace internal {

// Appends an axis, or merges it with the axis before it if the strides of all operands allow it.
template <int N> void AddAxis(Broadcast<N>& b, int& rank, int64_t size, const std::array<int64_t, N>& steps) {
  if (size == 1) return;
  if (rank > 0) {
    const auto last = static_cast<size_t>(rank - 1);
    bool merges = true;
    for (size_t i = 0; i < N; ++i) merges = merges && b.steps[last][i] == steps[i] * size;
    if (merges) {
      b.dims[last] *= size;
      b.steps[last] = steps;
      return;
    }
  }
  b.dims[static_cast<size_t>(rank)] = size;
  b.steps[static_cast<size_t>(rank)] = steps;
  ++rank;
}

}  // namespace internal

// Returns the same as ContiguousStrides, without a heap allocation. dims must have at most kMaxRank axes.
inline std::array<int64_t, kMaxRank> PackedSteps(const Dims& dims) {
  std::array<int64_t, kMaxRank> steps{};
  uint64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    steps[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i] ? dims[i] : 1);
  }
  return steps;
}

// The operands must broadcast to `out`. All shapes must have at most kMaxRank axes.
template <int N>
Broadcast<N> MakeBroadcast(const Dims& out,
                           const std::array<std::reference_wrapper<const Dims>, N>& operand_dims) {
  Broadcast<N> b;
  b.count = CountOf(out);
  std::array<std::array<int64_t, kMaxRank>, N> packed;
  for (size_t i = 0; i < N; ++i) packed[i] = PackedSteps(operand_dims[i]);
  int rank = 0;
  for (size_t axis = 0; axis < out.size(); ++axis) {
    std::array<int64_t, N> steps{};
    for (size_t i = 0; i < N; ++i) {
      const Dims& operand = operand_dims[i];
      const size_t lead = out.size() - operand.size();
      if (axis >= lead && operand[axis - lead] != 1) steps[i] = packed[i][axis - lead];
    }
    internal::AddAxis<N>(b, rank, out[axis], steps);
  }
  b.rank = std::max(rank, 1);
  if (rank == 0) b.dims[0] = b.count;
  return b;
}

// Splits elements [begin, end) of the result into rows and calls f(at, to, n) for each row. The row is
// elements [to, to + n) of the result. It reads operand i at at[i], at[i] + step, at[i] + 2 * step, …, where
// step is steps[rank - 1][i].
template <int N, class F> void EachRow(const Broadcast<N>& b, int64_t begin, int64_t end, const F& f) {
  const auto last = static_cast<size_t>(b.rank - 1);
  std::array<int64_t, kMaxRank> index;
  std::array<int64_t, N> at{};
  int64_t remaining = begin;
  for (size_t axis = last + 1; axis-- > 0;) {
    index[axis] = remaining % b.dims[axis];
    remaining /= b.dims[axis];
    for (size_t i = 0; i < N; ++i) at[i] += index[axis] * b.steps[axis][i];
  }
  while (begin < end) {
    const int64_t n = std::min(end - begin, b.dims[last] - index[last]);
    f(at, begin, n);
    begin += n;
    for (size_t i = 0; i < N; ++i) at[i] -= index[last] * b.steps[last][i];
    index[last] = 0;
    for (size_t axis = last; axis-- > 0;) {
      for (size_t i = 0; i < N; ++i) at[i] += b.steps[axis][i];
      if (++index[axis] < b.dims[axis]) break;
      for (size_t i = 0; i < N; ++i) at[i] -= index[axis] * b.steps[axis][i];
      index[axis] = 0;
    }
  }
}

// Broadcasts x to y. `width` is the number of bytes of an element: 1, 2, 4, 8 or 16.
void BroadcastCopy(const Broadcast<1>& b, const void* x, void* y, int width, const Workers& workers);
// y = condition ? a : b. The operands of the plan must be condition, a and b, in this order.
void Select(const Broadcast<3>& plan, const uint8_t* condition, const void* a, const void* b, void* y,
            int width, const Workers& workers);

}  // namespace tern::cpu
