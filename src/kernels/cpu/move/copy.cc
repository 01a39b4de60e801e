#include "kernels/cpu/move/copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/move/plane.h"
#include "kernels/cpu/move/rows_copy_simd.h"
#include "kernels/cpu/move/transpose_simd.h"
#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 16384;  // minimum elements per thread
constexpr int64_t kBlock = 16;    // side of the squares that are transposed in one step
constexpr int64_t kShort = 2048;  // rows of up to this many bytes are copied without memcpy

template <class T> void CopyRun(const T* x, T* y, int64_t n) {
  if (n * sizeof(T) >= 64)
    std::memcpy(y, x, static_cast<size_t>(n) * sizeof(T));
  else
    for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

// Copies rows [begin, end) of a plane with column stride 1 on both sides.
template <class T> void CopyRows(const Plane& p, const T* x, T* y, int64_t begin, int64_t end) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  x += begin * p.rows.from, y += begin * p.rows.to;
  if (p.columns.size * kWidth <= kShort)
    return RowsCopySimd().rows(reinterpret_cast<const char*>(x), p.rows.from * kWidth,
                               reinterpret_cast<char*>(y), p.rows.to * kWidth, p.columns.size * kWidth,
                               end - begin);
  for (int64_t r = begin; r < end; ++r, x += p.rows.from, y += p.rows.to) CopyRun(x, y, p.columns.size);
}

// Returns the kernel that transposes elements of `width` bytes, or null if there is none.
TransposeTable::Transpose* KernelFor(size_t width) {
  const TransposeTable& table = TransposeSimd();
  return width == 1   ? table.x8
         : width == 2 ? table.x16
         : width == 4 ? table.x32
         : width == 8 ? table.x64
                      : nullptr;
}

// Copies a block of a plane whose columns are not contiguous in x, or not contiguous in y. Visits it in
// squares of kBlock * kBlock elements, so that the cache lines of x and y stay in the cache.
template <class T> void Transpose(const Plane& p, const T* x, T* y, const PlaneBlock& block) {
  if (auto* transpose = p.Transposed() ? KernelFor(sizeof(T)) : nullptr)
    return transpose(x + block.row + block.column * p.columns.from, p.columns.from,
                     block.column_end - block.column, block.row_end - block.row,
                     y + block.row * p.rows.to + block.column, p.rows.to);
  for (int64_t r0 = block.row; r0 < block.row_end; r0 += kBlock) {
    const int64_t r1 = std::min(block.row_end, r0 + kBlock);
    for (int64_t c0 = block.column; c0 < block.column_end; c0 += kBlock) {
      const int64_t c1 = std::min(block.column_end, c0 + kBlock);
      for (int64_t r = r0; r < r1; ++r) {
        const T* from = x + r * p.rows.from;
        T* to = y + r * p.rows.to;
        for (int64_t c = c0; c < c1; ++c) to[c * p.columns.to] = from[c * p.columns.from];
      }
    }
  }
}

template <class T> void CopyBlock(const Plane& p, const T* x, T* y, const PlaneBlock& block) {
  if (p.columns.to == 1 && p.columns.from == 1) {
    CopyRows(p, x, y, block.row, block.row_end);
  } else if (p.columns.to == 1 && p.columns.from == 0) {
    for (int64_t r = block.row; r < block.row_end; ++r)
      std::fill_n(y + r * p.rows.to, p.columns.size, x[r * p.rows.from]);
  } else {
    Transpose(p, x, y, block);
  }
}

// Returns the axis that forms planes with the innermost axis of y. If the innermost axis does not read x with
// stride 1 but another axis does, returns that axis. Otherwise returns the axis next to the innermost one.
// Returns -1 if there is only one axis.
int RowsAxis(const StridedCopy& plan) {
  const auto at = [&](int i) { return plan.axes[static_cast<size_t>(i)]; };
  if (plan.rank < 2) return -1;
  if (at(plan.rank - 1).from != 1)
    for (int i = 0; i < plan.rank - 1; ++i)
      if (at(i).from == 1) return i;
  return plan.rank - 2;
}

template <class T> void Run(const StridedCopy& plan, const T* x, T* y, const Workers& workers) {
  const int rows = RowsAxis(plan);
  Plane plane;
  if (plan.rank > 0) plane.columns = plan.axes[static_cast<size_t>(plan.rank - 1)];
  if (rows >= 0) plane.rows = plan.axes[static_cast<size_t>(rows)];
  // A single long row is split into rows of 64 elements.
  if (rows < 0 && plane.columns.size > kWork && plane.columns.size % 64 == 0) {
    plane.rows = {plane.columns.size / 64, plane.columns.from * 64, plane.columns.to * 64};
    plane.columns.size = 64;
  }
  const int64_t cells = plane.rows.size * plane.columns.size, outer = cells ? plan.count / cells : 0;
  const PlaneBlocks blocks(plane, sizeof(T), plan.count * static_cast<int64_t>(sizeof(T)));
  const int64_t grain = std::max<int64_t>(1, kWork / blocks.work());
  workers.ParallelFor(outer * blocks.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      int64_t remaining = job / blocks.count(), from = plan.from, to = plan.to;
      for (int i = plan.rank - 1; i-- > 0;) {
        if (i == rows) continue;
        const StridedCopy::Axis& a = plan.axes[static_cast<size_t>(i)];
        from += remaining % a.size * a.from, to += remaining % a.size * a.to;
        remaining /= a.size;
      }
      CopyBlock(plane, x + from, y + to, blocks[job % blocks.count()]);
    }
  });
}

template <class T> void RunMapped(const MappedCopy& plan, const T* x, T* y, const Workers& workers) {
  const auto last = static_cast<size_t>(plan.rank - 1);
  int64_t outer = 1;
  for (size_t i = 0; i < last; ++i) outer *= plan.dims[i];
  const int64_t n = plan.dims[last];
  int64_t identity_length = 0;  // length of the prefix of the last axis that maps to itself
  while (identity_length < n && plan.sources[last][identity_length] == identity_length) ++identity_length;
  workers.ParallelFor(outer, std::max<int64_t>(1, kWork / std::max<int64_t>(1, n)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t row = begin; row < end; ++row) {
                          int64_t remaining = row, from = 0;
                          bool inside = true;
                          for (size_t i = last; i-- > 0; remaining /= plan.dims[i]) {
                            const int64_t at = plan.sources[i][remaining % plan.dims[i]];
                            inside = inside && at >= 0;
                            from += at * plan.steps[i];
                          }
                          if (!inside) continue;
                          const int64_t* map = plan.sources[last];
                          T* to = y + row * n;
                          if (identity_length == n && plan.steps[last] == 1) {
                            CopyRun(x + from, to, n);
                            continue;
                          }
                          for (int64_t j = 0; j < n; ++j)
                            if (map[j] >= 0) to[j] = x[from + map[j]];
                        }
                      });
}

// Several elements that are copied as one element.
template <int Bytes> struct Group { char bytes[Bytes]; };

// Returns the same copy, with the elements of the innermost axis joined into one element.
StridedCopy Grouped(const StridedCopy& plan) {
  StridedCopy groups = plan;
  const int64_t n = plan.axes[static_cast<size_t>(plan.rank - 1)].size;
  --groups.rank;
  groups.count /= n, groups.from /= n, groups.to /= n;
  for (int i = 0; i < groups.rank; ++i) {
    StridedCopy::Axis& axis = groups.axes[static_cast<size_t>(i)];
    axis.from /= n, axis.to /= n;
  }
  return groups;
}

// Returns the size of the innermost axis in bytes if all its elements can be copied as one element. Otherwise
// returns 0.
int64_t GroupOf(const StridedCopy& plan, int width) {
  if (plan.rank < 3) return 0;
  const StridedCopy::Axis& last = plan.axes[static_cast<size_t>(plan.rank - 1)];
  const int64_t bytes = last.size * width;
  if (last.from != 1 || last.to != 1 || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)) return 0;
  const auto divides = [&](int64_t step) { return step % last.size == 0; };
  bool fits = divides(plan.from) && divides(plan.to);
  for (int i = 0; i < plan.rank - 1; ++i) {
    const StridedCopy::Axis& axis = plan.axes[static_cast<size_t>(i)];
    fits = fits && divides(axis.from) && divides(axis.to);
  }
  return fits ? bytes : 0;
}

template <int Bytes> void RunGroups(const StridedCopy& plan, const void* x, void* y, const Workers& workers) {
  Run(Grouped(plan), static_cast<const Group<Bytes>*>(x), static_cast<Group<Bytes>*>(y), workers);
}

}  // namespace

void StridedCopy::Add(const Axis& axis) {
  count *= axis.size;
  if (axis.size == 1) return;
  if (rank > 0) {
    Axis& last = axes[static_cast<size_t>(rank - 1)];
    if (last.from == axis.from * axis.size && last.to == axis.to * axis.size) {
      last = {last.size * axis.size, axis.from, axis.to};
      return;
    }
  }
  axes[static_cast<size_t>(rank++)] = axis;
}

void Copy(const StridedCopy& plan, const void* x, void* y, int width, const Workers& workers) {
  if (plan.count == 0) return;
  switch (GroupOf(plan, width)) {
    case 2:
      return RunGroups<2>(plan, x, y, workers);
    case 4:
      return RunGroups<4>(plan, x, y, workers);
    case 8:
      return RunGroups<8>(plan, x, y, workers);
    case 16:
      return RunGroups<16>(plan, x, y, workers);
  }
  WithWidth(width, [&](auto zero) {
    using T = decltype(zero);
    Run(plan, static_cast<const T*>(x), static_cast<T*>(y), workers);
  });
}

void Fill(const void* value, void* y, int64_t n, int width, const Workers& workers) {
  workers.ParallelFor(n, kWork, [&](int64_t begin, int64_t end) {
    WithWidth(width, [&](auto v) {
      std::memcpy(&v, value, sizeof v);
      std::fill(static_cast<decltype(v)*>(y) + begin, static_cast<decltype(v)*>(y) + end, v);
    });
  });
}

void Copy(const MappedCopy& plan, const void* x, void* y, int width, const Workers& workers) {
  WithWidth(width, [&](auto zero) {
    using T = decltype(zero);
    if (plan.rank == 0)
      *static_cast<T*>(y) = *static_cast<const T*>(x);
    else
      RunMapped(plan, static_cast<const T*>(x), static_cast<T*>(y), workers);
  });
}

}  // namespace tern::cpu
