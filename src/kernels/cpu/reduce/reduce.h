// Reductions along any axes, and arg max and arg min along one axis.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "core/tensor.h"
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {

// The kinds are in the order of kReduceNames.
enum class ReduceKind : int { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp, kSumSquare };
inline constexpr const char* kReduceNames[] = {"sum", "mean", "max",     "min",         "prod",
                                               "l1",  "l2",   "log_sum", "log_sum_exp", "sum_square"};

// Adjacent axes are merged if all of them are kept or all of them are reduced. `kept` and `reduced` list the
// kept and the reduced axes, from the outermost axis on. They do not include the innermost axis, which
// `inner` describes.
struct ReducePlan {
  struct Axes {
    int rank = 0;
    int64_t count = 1;
    std::array<int64_t, kMaxRank> dims{}, steps{};
    int64_t OffsetOf(int64_t index) const;  // offset in the input, in elements
  };
  Axes kept, reduced;
  int64_t inner = 1;  // size of the innermost axis
  bool inner_reduced = false;
  int64_t count = 0;  // input elements per result
};
ReducePlan MakeReduce(const Dims& dims, const std::vector<bool>& mask);

bool HasReduce(ReduceKind kind, DType type);
void Reduce(ReduceKind kind, DType type, const ReducePlan& plan, const void* x, void* y,
            const Workers& workers);

// ArgReduce writes the index of the largest element along an axis, or of the smallest if `largest` is false.
// Among equal elements it chooses the first, or the last if `last` is true. NaN wins against all numbers in
// both cases.
bool HasArgReduce(DType type);
void ArgReduce(DType type, const AxisShape& shape, bool largest, bool last, const void* x, int64_t* y,
               const Workers& workers);

}  // namespace tern::cpu
