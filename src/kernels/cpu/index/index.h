// Gather and scatter. A negative index counts from the end of the axis. Callers must check with FindBadIndex
// that all indices are in range. Only OneHot accepts other indices.
#pragma once
#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/move/copy.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {

// An array of i32 or i64 indices.
struct Indices {
  const void* data = nullptr;
  bool wide = true;  // whether the indices are i64 instead of i32
  int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
};

// Checks the n indices at positions first, first + stride, first + 2 * stride, … Returns the position of the
// first index that is outside [-size, size), or -1 if there is none.
int64_t FindBadIndex(const Indices& indices, int64_t first, int64_t stride, int64_t n, int64_t size);

// Gathers y [outer, count, inner] from x [outer, length, inner].
void Gather(const AxisShape& x, const Indices& indices, int64_t count, const void* from, void* y, int width,
            const Workers& workers);

// Tuples of `size` indices. Each tuple selects a slice of x.
struct Tuples {
  Indices indices;
  int64_t count = 0, size = 0;                    // number of tuples, indices per tuple
  std::array<int64_t, kMaxRank> dims{}, steps{};  // dims and strides of the indexed axes of x
  int64_t per_batch = 1, batch_step = 0;          // tuples per batch item; stride of a batch item in x
  int64_t slice = 1;                              // elements per slice
  int64_t OffsetOf(int64_t tuple) const;          // in elements of x
};
void GatherTuples(const Tuples& t, const void* x, void* y, int width, const Workers& workers);

// Arguments of GatherElements and ScatterElements. There is one index for each element that is gathered or
// scattered. The result of GatherElements has the dims of `indices`.
struct Elements {
  Indices indices;
  int rank = 0;
  int axis = 0;
  std::array<int64_t, kMaxRank> dims{}, steps{};  // dims of indices, strides of x
  int64_t length = 0;                             // size of x along the axis
  int64_t count = 0;
  int64_t OffsetOf(int64_t element) const;
};
void GatherElements(const Elements& e, const void* x, void* y, int width, const Workers& workers);

enum class ScatterKind : int { kNone, kAdd, kMul, kMin, kMax };
inline constexpr const char* kScatterNames[] = {"none", "add", "mul", "min", "max"};
bool HasScatter(ScatterKind kind, DType type);
// Before the call, y must contain a copy of the tensor to update. Updates are applied in order, so a later
// update reads the result of an earlier one.
void ScatterTuples(ScatterKind kind, DType type, const Tuples& t, const void* updates, void* y);
// Returns whether the tuples select a box of x, as in the assignment x[:, 2:9] = updates, and no slice twice.
// Then sets `box` to the copy of the updates to x.
bool FindBox(const Tuples& t, StridedCopy& box);
// The same as ScatterTuples, for tuples that select a box.
void ScatterBox(ScatterKind kind, DType type, const StridedCopy& box, const void* updates, void* y,
                const Workers& workers);
void ScatterElements(ScatterKind kind, DType type, const Elements& e, const void* updates, void* y);

// y is [outer, depth, inner], and `indices` is [outer, inner]. y[o][d][i] is off_on[1] if d equals the index
// of (o, i), otherwise off_on[0]. If the index is out of range, y[o][d][i] is off_on[0] for all d.
void OneHot(const Indices& indices, int64_t outer, int64_t depth, int64_t inner, const void* off_on, void* y,
            int width, const Workers& workers);

}  // namespace tern::cpu
