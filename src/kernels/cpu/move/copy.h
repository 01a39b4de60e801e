// Copies elements by strides or by index maps. `width` is the number of bytes of an element: 1, 2, 4, 8 or
// 16.
#pragma once
#include <array>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/broadcast.h"

namespace tern::cpu {

// A copy between two tensors with any strides. Let i[a] be an index along axis a, with 0 <= i[a] <
// axes[a].size. For all such indices, sets y[to + i[0] * axes[0].to + i[1] * axes[1].to + …] to x[from + i[0]
// * axes[0].from + i[1] * axes[1].from + …]. Does not allocate.
struct StridedCopy {
  struct Axis {
    int64_t size = 1, from = 0, to = 0;  // strides in elements; `from` may be 0 or negative
  };
  int rank = 0;
  int64_t count = 1;
  int64_t from = 0, to = 0;
  std::array<Axis, kMaxRank> axes;

  // Adds an axis. Axes must be added from the outermost of y to the innermost. At most kMaxRank axes may be
  // longer than 1. Adjacent axes are merged if their strides allow it.
  void Add(const Axis& axis);
};
void Copy(const StridedCopy& plan, const void* x, void* y, int width, const Workers& workers);

// Sets n elements of y to *value.
void Fill(const void* value, void* y, int64_t n, int width, const Workers& workers);

// Sets y[i, j, …] to x[sources[0][i], sources[1][j], …]. If one of these sources is negative, the element is
// not written.
struct MappedCopy {
  int rank = 0;
  std::array<int64_t, kMaxRank> dims{};   // dims of y
  std::array<int64_t, kMaxRank> steps{};  // strides of x; the last stride must be 1
  std::array<const int64_t*, kMaxRank> sources{};
};
void Copy(const MappedCopy& plan, const void* x, void* y, int width, const Workers& workers);

}  // namespace tern::cpu
