#include "kernels/cpu/reduce/reduce.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/reduce/rows_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 16384;
constexpr int64_t kColumns = 512;
constexpr int64_t kRows = 256;   // rows with a constant stride that one call combines
constexpr int64_t kFewRows = 8;  // maximum rows that are combined one by one
constexpr int64_t kParts = 8;    // number of parts into which many rows are split, see ByParts

RowSum RowKind(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
    case ReduceKind::kLogSumExp:
      return RowSum::kMax;
    case ReduceKind::kMin:
      return RowSum::kMin;
    case ReduceKind::kProd:
      return RowSum::kProduct;
    case ReduceKind::kL1:
      return RowSum::kL1;
    case ReduceKind::kL2:
    case ReduceKind::kSumSquare:
      return RowSum::kSquare;
    default:
      return RowSum::kSum;
  }
}

// Returns the operation that combines partial results.
RowSum OfParts(RowSum kind) { return kind == RowSum::kL1 || kind == RowSum::kSquare ? RowSum::kSum : kind; }

// Arithmetic in f32. Plain is the arithmetic of the other types.
struct Floats {
  using T = float;
  static float Start(RowSum kind) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return kind == RowSum::kMax       ? -kInfinity
           : kind == RowSum::kMin     ? kInfinity
           : kind == RowSum::kProduct ? 1.f
                                      : 0.f;
  }
  static float Row(RowSum kind, const float* x, int64_t n) { return RowSimd().reduce(kind, x, n); }
  static void Join(RowSum kind, const float* x, int64_t rows, int64_t step, float* y, int64_t n) {
    RowSimd().join(kind, x, rows, step, y, n);
  }
};

template <class Number> struct Plain {
  using T = Number;
  static constexpr bool kReal = std::is_floating_point_v<T>;
  static T Start(RowSum kind) {
    using Limits = std::numeric_limits<T>;
    if (kind == RowSum::kMax) return kReal ? -Limits::infinity() : Limits::lowest();
    if (kind == RowSum::kMin) return kReal ? Limits::infinity() : Limits::max();
    return kind == RowSum::kProduct ? T(1) : T(0);
  }
  static bool Negative(T x) {
    if constexpr (std::is_signed_v<T>) return x < 0;
    return false;
  }
  // Integers wrap around.
  static T CombineOne(RowSum kind, T sum, T x) {
    using W = std::conditional_t<kReal, T, uint64_t>;
    switch (kind) {
      case RowSum::kMax:
        return sum != sum || sum > x ? sum : x;
      case RowSum::kMin:
        return sum != sum || sum < x ? sum : x;
      case RowSum::kProduct:
        return static_cast<T>(static_cast<W>(sum) * static_cast<W>(x));
      case RowSum::kL1:
        return static_cast<T>(Negative(x) ? static_cast<W>(sum) - static_cast<W>(x)
                                          : static_cast<W>(sum) + static_cast<W>(x));
      case RowSum::kSquare:
        return static_cast<T>(static_cast<W>(sum) + static_cast<W>(x) * static_cast<W>(x));
      default:
        return static_cast<T>(static_cast<W>(sum) + static_cast<W>(x));
    }
  }
  static T Row(RowSum kind, const T* x, int64_t n) {
    T sum = Start(kind);
    for (int64_t i = 0; i < n; ++i) sum = CombineOne(kind, sum, x[i]);
    return sum;
  }
  static void Join(RowSum kind, const T* x, int64_t rows, int64_t step, T* y, int64_t n) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i) y[i] = CombineOne(kind, y[i], x[r * step + i]);
  }
};

template <class T> T Finish(ReduceKind kind, T sum, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    if (kind == ReduceKind::kMean) return sum / static_cast<T>(count);
    if (kind == ReduceKind::kL2) return std::sqrt(sum);
    if (kind == ReduceKind::kLogSum) return std::log(sum);
  }
  return sum;
}

// Sums exp(x - top), where top is the largest element, so that exp cannot overflow.
void LogSumExpRow(const ReducePlan& p, const float* x, float top, float* y) {
  float sum = 0;
  for (int64_t r = 0; r < p.reduced.count; ++r)
    sum += RowSimd().exp_sum(x + p.reduced.OffsetOf(r), top, p.inner);
  *y = sum == 0 ? -HUGE_VALF : top + std::log(sum);
}

void LogSumExpColumns(const ReducePlan& p, const float* x, float* top, int64_t n) {
  float sum[kColumns] = {};
  for (int64_t r = 0; r < p.reduced.count; ++r) RowSimd().join_exp(x + p.reduced.OffsetOf(r), top, sum, n);
  for (int64_t j = 0; j < n; ++j) top[j] = sum[j] == 0 ? -HUGE_VALF : top[j] + std::log(sum[j]);
}

// Reduces rows [begin, end) along the innermost axis to one number. Splits many rows in half recursively
// (pairwise summation). So the rounding error grows only with the logarithm of the number of rows.
template <class Math>
typename Math::T JoinedRows(RowSum kind, const ReducePlan& p, const typename Math::T* x, int64_t begin,
                            int64_t end) {
  auto sum = Math::Start(kind);
  const auto join = [&](typename Math::T part) { Math::Join(OfParts(kind), &part, 1, 0, &sum, 1); };
  if (end - begin > kFewRows) {
    const int64_t middle = begin + (end - begin) / 2;
    join(JoinedRows<Math>(kind, p, x, begin, middle));
    join(JoinedRows<Math>(kind, p, x, middle, end));
    return sum;
  }
  for (int64_t r = begin; r < end; ++r) join(Math::Row(kind, x + p.reduced.OffsetOf(r), p.inner));
  return sum;
}

// Reduces the innermost axis and possibly other axes. Each result is a reduction of entire rows.
template <class Math>
void ReduceRows(ReduceKind kind, const ReducePlan& p, const typename Math::T* x, typename Math::T* y,
                int64_t begin, int64_t end) {
  const RowSum row = RowKind(kind);
  for (int64_t i = begin; i < end; ++i) {
    const auto* from = x + p.kept.OffsetOf(i);
    const auto sum = JoinedRows<Math>(row, p, from, 0, p.reduced.count);
    if constexpr (std::is_same_v<Math, Floats>) {
      if (kind == ReduceKind::kLogSumExp) {
        LogSumExpRow(p, from, sum, y + i);
        continue;
      }
    }
    y[i] = Finish(kind, sum, p.count);
  }
}

// Reduces n columns of rows [begin, end) to y. If one call cannot combine all rows, splits them in half
// recursively (pairwise summation). So the rounding error grows only with the logarithm of the number of
// rows.
template <class Math>
void JoinRows(RowSum kind, const ReducePlan& p, const typename Math::T* x, int64_t begin, int64_t end,
              typename Math::T* y, int64_t n) {
  const bool constant_stride = p.reduced.rank <= 1;
  const int64_t leaf = constant_stride ? kRows : kFewRows, leaves = (end - begin + leaf - 1) / leaf;
  if (leaves > 1) {
    const int64_t middle = begin + leaves / 2 * leaf;
    typename Math::T part[kColumns];
    JoinRows<Math>(kind, p, x, begin, middle, y, n);
    JoinRows<Math>(kind, p, x, middle, end, part, n);
    return Math::Join(OfParts(kind), part, 1, 0, y, n);
  }
  std::fill(y, y + n, Math::Start(kind));
  const int64_t step = p.reduced.rank ? p.reduced.steps[0] : 0;
  if (constant_stride) return Math::Join(kind, x + begin * step, end - begin, step, y, n);
  for (int64_t i = begin; i < end; ++i) Math::Join(kind, x + p.reduced.OffsetOf(i), 1, 0, y, n);
}

// Returns whether the rows are split into kParts parts, which are reduced in parallel and then combined. This
// is done for many rows of few columns. The split depends only on the plan, so that results do not depend on
// the number of threads.
bool ByParts(const ReducePlan& p) {
  return p.kept.count == 1 && p.inner <= kColumns && p.reduced.count * p.inner >= kParts * kWork / 2;
}
template <class Math>
void ReduceParts(ReduceKind kind, const ReducePlan& p, const typename Math::T* x, typename Math::T* y,
                 const Workers& workers) {
  const RowSum row = RowKind(kind);
  typename Math::T parts[kParts][kColumns];
  const int64_t rows = (p.reduced.count + kParts - 1) / kParts;
  workers.ParallelFor(kParts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      JoinRows<Math>(row, p, x, std::min(i * rows, p.reduced.count),
                     std::min((i + 1) * rows, p.reduced.count), parts[i], p.inner);
  });
  std::fill(y, y + p.inner, Math::Start(row));
  for (const auto& part : parts) Math::Join(OfParts(row), part, 1, 0, y, p.inner);
  for (int64_t k = 0; k < p.inner; ++k) y[k] = Finish(kind, y[k], p.count);
}

// For plans that keep the innermost axis. Results along this axis are contiguous.
template <class Math>
void ReduceColumns(ReduceKind kind, const ReducePlan& p, const typename Math::T* x, typename Math::T* y,
                   int64_t begin, int64_t end) {
  const int64_t tiles = (p.inner + kColumns - 1) / kColumns;
  const RowSum row = RowKind(kind);
  for (int64_t t = begin; t < end; ++t) {
    const int64_t i = t / tiles, j = t % tiles * kColumns, n = std::min(kColumns, p.inner - j);
    auto* to = y + i * p.inner + j;
    const auto* from = x + p.kept.OffsetOf(i) + j;
    JoinRows<Math>(row, p, from, 0, p.reduced.count, to, n);
    if constexpr (std::is_same_v<Math, Floats>) {
      if (kind == ReduceKind::kLogSumExp) LogSumExpColumns(p, from, to, n);
    }
    for (int64_t k = 0; k < n; ++k) to[k] = Finish(kind, to[k], p.count);
  }
}

template <class Math>
void Run(ReduceKind kind, const ReducePlan& p, const void* x, void* y, const Workers& workers) {
  using T = typename Math::T;
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
  if (p.inner_reduced) {
    workers.ParallelFor(p.kept.count, std::max<int64_t>(1, kWork / std::max<int64_t>(1, p.count)),
                        [&](int64_t begin, int64_t end) { ReduceRows<Math>(kind, p, from, to, begin, end); });
  } else if (ByParts(p) && kind != ReduceKind::kLogSumExp) {
    ReduceParts<Math>(kind, p, from, to, workers);
  } else {
    const int64_t tiles = (p.inner + kColumns - 1) / kColumns,
                  work = std::max<int64_t>(1, p.count * std::min(p.inner, kColumns));
    workers.ParallelFor(
        p.kept.count * tiles, std::max<int64_t>(1, kWork / work),
        [&](int64_t begin, int64_t end) { ReduceColumns<Math>(kind, p, from, to, begin, end); });
  }
}

}  // namespace

int64_t ReducePlan::Axes::OffsetOf(int64_t index) const {
  int64_t at = 0;
  for (int i = rank; i-- > 0;) {
    at += index % dims[static_cast<size_t>(i)] * steps[static_cast<size_t>(i)];
    index /= dims[static_cast<size_t>(i)];
  }
  return at;
}

ReducePlan MakeReduce(const Dims& dims, const std::vector<bool>& mask) {
  struct Axis {
    int64_t size, step;
    bool reduced;
  };
  std::array<Axis, kMaxRank> axes{};
  size_t rank = 0;
  const auto steps = PackedSteps(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    Axis* last = rank ? &axes[rank - 1] : nullptr;
    if (last && last->reduced == mask[i] && dims[i] != 0 && last->size != 0) {
      last->size *= dims[i];
      last->step = steps[i];
    } else {
      axes[rank++] = {dims[i], steps[i], mask[i]};
    }
  }
  ReducePlan plan;
  plan.count = 1;
  for (size_t i = 0; i < rank; ++i)
    if (axes[i].reduced) plan.count *= axes[i].size;
  if (rank) {
    --rank;
    plan.inner = axes[rank].size;
    plan.inner_reduced = axes[rank].reduced;
  }
  for (size_t i = 0; i < rank; ++i) {
    const Axis& a = axes[i];
    ReducePlan::Axes& list = a.reduced ? plan.reduced : plan.kept;
    list.dims[static_cast<size_t>(list.rank)] = a.size;
    list.steps[static_cast<size_t>(list.rank)] = a.step;
    list.count *= a.size;
    ++list.rank;
  }
  return plan;
}

bool HasReduce(ReduceKind kind, DType type) {
  const bool exact = kind != ReduceKind::kMean && kind != ReduceKind::kL2 && kind != ReduceKind::kLogSum &&
                     kind != ReduceKind::kLogSumExp;
  switch (type) {
    case DType::kF32:
      return true;
    case DType::kF64:
      return kind != ReduceKind::kLogSumExp;
    case DType::kI8:
    case DType::kU8:
    case DType::kI32:
    case DType::kI64:
      return exact;
    case DType::kBool:
      return kind == ReduceKind::kMax || kind == ReduceKind::kMin;
    default:
      return false;
  }
}

void Reduce(ReduceKind kind, DType type, const ReducePlan& plan, const void* x, void* y,
            const Workers& workers) {
  switch (type) {
    case DType::kF32:
      return Run<Floats>(kind, plan, x, y, workers);
    case DType::kF64:
      return Run<Plain<double>>(kind, plan, x, y, workers);
    case DType::kI8:
      return Run<Plain<int8_t>>(kind, plan, x, y, workers);
    case DType::kI32:
      return Run<Plain<int32_t>>(kind, plan, x, y, workers);
    case DType::kI64:
      return Run<Plain<int64_t>>(kind, plan, x, y, workers);
    case DType::kBool:
      return Run<Plain<bool>>(kind, plan, x, y, workers);
    default:
      return Run<Plain<uint8_t>>(kind, plan, x, y, workers);
  }
}

}  // namespace tern::cpu
