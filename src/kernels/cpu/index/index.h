// Reading and writing where numbers say. Indices may be negative; callers have checked them (CheckIndices).
#pragma once
#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "base/thread_pool.h"
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/reduce/softmax.h"

namespace tern::cpu {

// i32 or i64.
struct Indices {
  const void* data = nullptr;
  bool wide = true;
  int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
};

// The first of n indices, each `stride` apart, outside [-size, size); -1: none.
int64_t FindBadIndex(const Indices& indices, int64_t first, int64_t stride, int64_t n, int64_t size);

// y: outer x count x inner from x: outer x length x inner.
void Gather(const AxisShape& x, const Indices& indices, int64_t count, const void* from, void* y, int width,
            const Workers& workers);

// Tuples of `width` indices name slices of x.
struct Tuples {
  Indices indices;
  int64_t count = 0, size = 0;                    // tuples, and indices in each
  std::array<int64_t, kMaxRank> dims{}, steps{};  // of x, along which they point
  int64_t per_batch = 1, batch_step = 0;          // every so many tuples, x advances
  int64_t slice = 1;                              // elements
  int64_t OffsetOf(int64_t tuple) const;
};
void GatherTuples(const Tuples& t, const void* x, void* y, int width, const Workers& workers);

// One element per index: those of `indices`' dims, in tensors of x's dims.
struct Elements {
  Indices indices;
  int rank = 0;
  int axis = 0;
  std::array<int64_t, kMaxRank> dims{}, steps{};  // of indices; of x
  int64_t length = 0;                             // of x along the axis
  int64_t count = 0;
  int64_t OffsetOf(int64_t element) const;
};
void GatherElements(const Elements& e, const void* x, void* y, int width, const Workers& workers);

enum class ScatterKind : int { kNone, kAdd, kMul, kMin, kMax };
inline constexpr const char* kScatterNames[] = {"none", "add", "mul", "min", "max"};
bool HasScatter(ScatterKind kind, DType type);
// y already holds what is not changed. In order: later updates see earlier ones.
void ScatterTuples(ScatterKind kind, DType type, const Tuples& t, const void* updates, void* y);
void ScatterElements(ScatterKind kind, DType type, const Elements& e, const void* updates, void* y);

// y: outer x depth x inner, off[1] where the index of (outer, inner) stands, off[0] elsewhere.
void OneHot(const Indices& indices, int64_t outer, int64_t depth, int64_t inner, const void* off_on, void* y,
            int width, const Workers& workers);

}  // namespace tern::cpu
