// Moving elements from one place to another, whatever they mean. Widths are bytes: 1, 2, 4, 8 or 16.
#pragma once
#include <array>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/broadcast.h"

namespace tern::cpu {

// y[to + sum of i * to_step] = x[from + sum of i * from_step] for every index i below the dims. No memory of
// its own.
struct StridedCopy {
  struct Axis {
    int64_t size = 1, from = 0, to = 0;  // steps in elements; those of x may be zero or negative
  };
  int rank = 0;
  int64_t count = 1;
  int64_t from = 0, to = 0;
  std::array<Axis, kMaxRank> axes;

  // Axes from the outermost of y to its innermost; at most kMaxRank that are longer than 1. Merges what it
  // can.
  void Add(const Axis& axis);
};
void Copy(const StridedCopy& plan, const void* x, void* y, int width, const Workers& workers);

// n elements of y become *value.
void Fill(const void* value, void* y, int64_t n, int width, const Workers& workers);

// y[i, j, …] = x[sources[0][i], sources[1][j], …]; a negative source leaves y as it is.
struct MappedCopy {
  int rank = 0;
  std::array<int64_t, kMaxRank> dims{};   // of y
  std::array<int64_t, kMaxRank> steps{};  // of x
  std::array<const int64_t*, kMaxRank> sources{};
};
void Copy(const MappedCopy& plan, const void* x, void* y, int width, const Workers& workers);

}  // namespace tern::cpu
