#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/index/index.h"
#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

template <class T> T Combine(ScatterKind kind, T a, T b) {
  using W = std::conditional_t<std::is_floating_point_v<T>, T,
                               std::make_unsigned_t<std::conditional_t<std::is_floating_point_v<T>, int, T>>>;
  switch (kind) {
    case ScatterKind::kAdd:
      return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    case ScatterKind::kMul:
      return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    case ScatterKind::kMin:
      return a != a ? a : b != b ? b : std::min(a, b);
    default:
      return a != a ? a : b != b ? b : std::max(a, b);
  }
}

template <class T> void CombineRun(ScatterKind kind, const T* updates, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Combine(kind, y[i], updates[i]);
}

// Combines elements [from, from + n) of updates with the elements of y that start at `to`.
void CombineTyped(ScatterKind kind, DType type, const void* updates, int64_t from, void* y, int64_t to,
                  int64_t n) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    CombineRun(kind, static_cast<const T*>(updates) + from, static_cast<T*>(y) + to, n);
  };
  switch (type) {
    case DType::kF32:
      return run(float{});
    case DType::kF64:
      return run(double{});
    case DType::kI32:
      return run(int32_t{});
    default:
      return run(int64_t{});
  }
}

void ScatterRun(ScatterKind kind, DType type, const void* updates, int64_t from, void* y, int64_t to,
                int64_t n) {
  if (kind != ScatterKind::kNone) return CombineTyped(kind, type, updates, from, y, to, n);
  const auto width = static_cast<size_t>(WidthOf(type));
  std::memcpy(static_cast<char*>(y) + static_cast<size_t>(to) * width,
              static_cast<const char*>(updates) + static_cast<size_t>(from) * width,
              static_cast<size_t>(n) * width);
}

// Returns whether the elements of a box are at distinct places. The strides `to` must be positive.
bool Distinct(std::array<StridedCopy::Axis, kMaxRank> axes, int rank, int64_t slice) {
  std::sort(axes.begin(), axes.begin() + rank, [](const auto& a, const auto& b) { return a.to < b.to; });
  int64_t span = slice;  // elements from the first to the last of the axes so far
  for (int i = 0; i < rank; ++i) {
    const StridedCopy::Axis& axis = axes[static_cast<size_t>(i)];
    if (axis.to < span) return false;
    span += (axis.size - 1) * axis.to;
  }
  return true;
}

// Returns whether the tuples select the slices of the box with these axes, the innermost first.
bool Matches(const Tuples& t, const std::array<StridedCopy::Axis, kMaxRank>& axes, int rank) {
  const int64_t start = t.OffsetOf(0);
  for (int64_t i = 0; i < t.count; ++i) {
    int64_t at = start, rest = i;
    for (int a = 0; a < rank; ++a) {
      const StridedCopy::Axis& axis = axes[static_cast<size_t>(a)];
      at += rest % axis.size * axis.to;
      rest /= axis.size;
    }
    if (t.OffsetOf(i) != at) return false;
  }
  return true;
}

}  // namespace

bool HasScatter(ScatterKind kind, DType type) {
  if (kind == ScatterKind::kNone) return WidthOf(type) > 0;
  return type == DType::kF32 || type == DType::kF64 || type == DType::kI32 || type == DType::kI64;
}

void ScatterTuples(ScatterKind kind, DType type, const Tuples& t, const void* updates, void* y) {
  for (int64_t i = 0; i < t.count;) {
    // Tuples [i, next) select adjacent slices, which one call updates.
    const int64_t first = t.OffsetOf(i);
    int64_t next = i + 1;
    while (next < t.count && t.OffsetOf(next) == first + (next - i) * t.slice) ++next;
    ScatterRun(kind, type, updates, i * t.slice, y, first, (next - i) * t.slice);
    i = next;
  }
}

bool FindBox(const Tuples& t, StridedCopy& box) {
  if (t.count == 0 || t.slice == 0) return false;
  std::array<StridedCopy::Axis, kMaxRank> axes;  // the innermost first
  int rank = 0;
  const int64_t start = t.OffsetOf(0);
  for (int64_t unit = 1; unit < t.count; ++rank) {
    if (rank == kMaxRank - 1) return false;
    const int64_t step = t.OffsetOf(unit) - start, most = t.count / unit;
    int64_t size = 2;
    while (size < most && t.OffsetOf(size * unit) == start + size * step) ++size;
    if (step <= 0 || t.count % (size * unit) != 0) return false;
    axes[static_cast<size_t>(rank)] = {size, unit * t.slice, step};
    unit *= size;
  }
  if (!Distinct(axes, rank, t.slice) || !Matches(t, axes, rank)) return false;
  box = {};
  box.to = start;
  for (int i = rank; i-- > 0;) box.Add(axes[static_cast<size_t>(i)]);
  box.Add({t.slice, 1, 1});
  return true;
}

void ScatterBox(ScatterKind kind, DType type, const StridedCopy& box, const void* updates, void* y,
                const Workers& workers) {
  if (kind == ScatterKind::kNone) return Copy(box, updates, y, WidthOf(type), workers);
  const bool rows = box.rank > 0 && box.axes[static_cast<size_t>(box.rank - 1)].to == 1;
  const int outer = rows ? box.rank - 1 : box.rank;
  const int64_t n = rows ? box.axes[static_cast<size_t>(outer)].size : 1;
  workers.ParallelFor(box.count / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t from = box.from, to = box.to, rest = i;
      for (int a = outer; a-- > 0;) {
        const StridedCopy::Axis& axis = box.axes[static_cast<size_t>(a)];
        from += rest % axis.size * axis.from, to += rest % axis.size * axis.to;
        rest /= axis.size;
      }
      ScatterRun(kind, type, updates, from, y, to, n);
    }
  });
}

void ScatterElements(ScatterKind kind, DType type, const Elements& e, const void* updates, void* y) {
  for (int64_t i = 0; i < e.count; ++i) ScatterRun(kind, type, updates, i, y, e.OffsetOf(i), 1);
}

}  // namespace tern::cpu
