#include "kernels/cpu/attention/attention_simd.h"

#include "kernels/cpu/reduce/exponential-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kWide = kLanes<float>;
// Keys and values are read as several streams, because a core reads several streams of memory faster than
// one. The sums of all streams must fit into the registers.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kStreams = 4;
#else
constexpr int kStreams = 2;
#endif

// Loads n bytes and converts them to floats.
inline Floats Bytes(const uint8_t* p, int64_t n) {
  typedef uint8_t Small __attribute__((vector_size(kWide)));
  Small bytes{};
  if (n == kWide)
    __builtin_memcpy(&bytes, p, sizeof bytes);
  else
    for (int64_t i = 0; i < n; ++i) bytes[i] = p[i];
  return __builtin_convertvector(bytes, Floats);
}

enum class MaskKind { kNone, kAdded, kShown };

// Applies softcap and mask to n scores of row i and returns the largest score.
template <MaskKind kMask, bool kCapped>
inline float Finish(const ScoreBlock& b, float* s, int64_t i, int64_t n) {
  const float* mask = b.mask + (kMask == MaskKind::kAdded ? i * b.mask_row : 0);
  const uint8_t* shown = b.shown + (kMask == MaskKind::kShown ? i * b.mask_row : 0);
  const bool per_key = b.mask_step != 0;
  const auto value = [&](int64_t j, int64_t count) {
    Floats v = LoadVector(s + j);
    if constexpr (kCapped) v = b.softcap * Tanh(v / b.softcap);
    if constexpr (kMask == MaskKind::kAdded)
      v += !per_key ? All(*mask) : count == kWide ? LoadVector(mask + j) : LoadPart(mask + j, count);
    if constexpr (kMask == MaskKind::kShown)
      v = (per_key ? Bytes(shown + j, count) : All(*shown)) != 0.f ? v : All(-kInfinity);
    if (count < kWide) v = Keep(v, count, All(-kInfinity));
    if (kCapped || kMask != MaskKind::kNone || count < kWide) StoreVector(s + j, v);
    return v;
  };
  Floats a = All(-kInfinity), c = a;
  int64_t j = 0;
  for (; j + 2 * kWide <= n; j += 2 * kWide) {
    a = Larger(value(j, kWide), a);
    c = Larger(value(j + kWide, kWide), c);
  }
  for (; j < n; j += kWide) a = Larger(value(j, MinOf(kWide, n - j)), a);
  return MaxAcross(Larger(a, c));
}

// Replaces scores [0, n) by exp(score - top) and scores [n, end) by zeros. Returns the sum of the
// exponentials. If n is inside a vector, the scores from n to the end of this vector must be -infinity.
inline float Exponentials(float* s, float top, int64_t n, int64_t end) {
  Floats sum{};
  int64_t j = 0;
  for (; j < n; j += kWide) {
    const Floats e = ExpOrZero(LoadVector(s + j) - top);
    sum += e;
    StoreVector(s + j, e);
  }
  for (; j < end; j += kWide) StoreVector(s + j, Floats{});
  return SumAcross(sum);
}

template <MaskKind kMask, bool kCapped> void Rows(const ScoreBlock& b) {
  for (int64_t i = 0; i < b.rows; ++i) {
    float* s = b.scores + i * b.row;
    const int64_t n = MaxOf<int64_t>(0, MinOf(b.keys, b.seen + i * b.seen_step));
    const float top = Finish<kMask, kCapped>(b, s, i, n);
    const float before = b.first ? -kInfinity : b.top[i];
    b.top[i] = top > before ? top : before;
    // If all keys so far are masked, the base is 0 instead of -infinity, so that probabilities and their sum
    // are zero instead of NaN.
    const float base = b.top[i] == -kInfinity ? 0.f : b.top[i];
    const float sum = Exponentials(s, base, n, b.keys);
    if (b.first) {
      b.sum[i] = sum;
    } else {
      b.rescale[i] = Exp(All(before - base))[0];
      b.sum[i] = b.sum[i] * b.rescale[i] + sum;
    }
  }
}

void Probabilities(const ScoreBlock& b) {
  const bool capped = b.softcap > 0;
  if (b.mask) return capped ? Rows<MaskKind::kAdded, true>(b) : Rows<MaskKind::kAdded, false>(b);
  if (b.shown) return capped ? Rows<MaskKind::kShown, true>(b) : Rows<MaskKind::kShown, false>(b);
  capped ? Rows<MaskKind::kNone, true>(b) : Rows<MaskKind::kNone, false>(b);
}

void Scale(float* y, int64_t row, int64_t rows, int64_t n, const float* factors, bool guarded) {
  for (int64_t i = 0; i < rows; ++i, y += row) {
    const float f = factors[i];
    const bool is_zeroed = guarded && !(f - f == 0.f);  // f is infinite or NaN
    int64_t j = 0;
    for (; j + kWide <= n; j += kWide) StoreVector(y + j, is_zeroed ? Floats{} : LoadVector(y + j) * f);
    if (j < n) StorePart(y + j, is_zeroed ? Floats{} : LoadPart(y + j, n - j) * f, n - j);
  }
}

inline Floats Product(const float* q, const float* k, int64_t size) {
  Floats sum{};
  int64_t i = 0;
  for (; i + kWide <= size; i += kWide) sum += LoadVector(q + i) * LoadVector(k + i);
  if (i < size) sum += LoadPart(q + i, size - i) * LoadPart(k + i, size - i);
  return sum;
}

void Dots(const float* q, const float* k, int64_t k_row, int64_t keys, int64_t size, float factor,
          float* scores) {
  const auto score = [&](int64_t j) { scores[j] = factor * SumAcross(Product(q, k + j * k_row, size)); };
  const int64_t length = keys / kStreams;
  for (int64_t j = 0; j < length; ++j)
#pragma GCC unroll 4
    for (int s = 0; s < kStreams; ++s) score(s * length + j);
  for (int64_t j = kStreams * length; j < keys; ++j) score(j);
}

// Computes N vectors of y, which stay in registers, as the sum of p[i] times row i of v. `last` is the number
// of elements in the last vector.
template <int N>
inline void CombineVectors(const float* p, const float* v, int64_t v_row, int64_t keys, int64_t last,
                           bool accumulate, float* y) {
  const auto load = [last](const float* at, int j) {
    return j < N - 1 || last == kWide ? LoadVector(at + j * kWide) : LoadPart(at + j * kWide, last);
  };
  Floats sum[kStreams][N];
#pragma GCC unroll 4
  for (int s = 0; s < kStreams; ++s)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[s][j] = accumulate && s == 0 ? load(y, j) : Floats{};
  const auto add = [&](int64_t i, int s) {
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[s][j] += p[i] * load(v + i * v_row, j);
  };
  const int64_t length = keys / kStreams;
  for (int64_t i = 0; i < length; ++i)
#pragma GCC unroll 4
    for (int s = 0; s < kStreams; ++s) add(s * length + i, s);
  for (int64_t i = kStreams * length; i < keys; ++i) add(i, 0);
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    for (int s = 1; s < kStreams; ++s) sum[0][j] += sum[s][j];
    StorePart(y + j * kWide, sum[0][j], j < N - 1 ? kWide : last);
  }
}

void Combine(const float* p, const float* v, int64_t v_row, int64_t keys, int64_t size, bool accumulate,
             float* y) {
  int64_t i = 0;
  for (; i + 4 * kWide <= size; i += 4 * kWide)
    CombineVectors<4>(p, v + i, v_row, keys, kWide, accumulate, y + i);
  for (; i < size; i += kWide)
    CombineVectors<1>(p, v + i, v_row, keys, MinOf(kWide, size - i), accumulate, y + i);
}

}  // namespace

const AttentionTable kAttentionSimd = {Probabilities, Scale, Dots, Combine};

}  // namespace tern::cpu::TERN_SIMD
