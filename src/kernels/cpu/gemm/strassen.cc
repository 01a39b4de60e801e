#include "kernels/cpu/gemm/strassen.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/gemm/strassen_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

// kMaxDepth is the maximum number of elements of k per pass; panels of half this depth stay in the L1 cache.
// kMaxRows is the maximum number of rows per block; sums of a's quarters stay in the L2 cache. Each block
// computes the sums of b again, so blocks should be large.
constexpr int64_t kMaxDepth = 768, kMaxRows = 256;
// A block is split into more jobs than threads only if each job has at least this many columns of each half
// of c.
constexpr int64_t kMinColumns = 192;
constexpr int64_t kMinRows = 16;  // blocks with fewer rows are computed as plain products
// If there are more than 2 blocks, their number is rounded up to a multiple of kThreadMultiple, so that 2 or
// 4 threads get even work.
constexpr int64_t kThreadMultiple = 4;
constexpr int64_t kMinWorkPerThread = 1 << 18;  // in multiply-adds
constexpr int64_t kPad = 16;  // floats between rows, so that they do not collide in the L1 cache

// Describes how a product is split. The blocks of rows determine which rows the algorithm adds to each other,
// and so how results are rounded. Therefore the blocks depend only on the sizes, not on the number of
// threads.
struct Blocking {
  int64_t depth;          // elements of k per pass, even
  int64_t rows, blocks;   // rows per block (even except in the last one); number of blocks
  int64_t columns, jobs;  // columns of each half of c per job; jobs per block
  int64_t step;           // row stride of the sums of a
};

Blocking BlockingOf(const PanelProduct& p, int threads) {
  const int64_t width = TileSimd().columns, half = p.n / 2;
  Blocking blocking{};
  blocking.depth = EvenPartSize(p.k, kMaxDepth, 2);
  blocking.blocks = CeilDiv(p.m, kMaxRows);
  if (blocking.blocks > 2) blocking.blocks = CeilDiv(blocking.blocks, kThreadMultiple) * kThreadMultiple;
  blocking.rows = EvenPartSize(p.m, CeilDiv(p.m, blocking.blocks), 2);
  blocking.blocks = CeilDiv(p.m, blocking.rows);
  blocking.columns = half;
  if (threads > 1) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const auto target = static_cast<int64_t>(std::min(work / kMinWorkPerThread, threads * 2.0));
    // Each job computes the sums of its block again, so there are few jobs per block.
    int64_t jobs = std::min(CeilDiv(target, blocking.blocks), std::max<int64_t>(threads, half / kMinColumns));
    if (jobs > threads) jobs = jobs / threads * threads;
    if (blocking.blocks < target) blocking.columns = EvenPartSize(half, CeilDiv(half, jobs), width);
  }
  blocking.jobs = CeilDiv(half, blocking.columns);
  blocking.step = blocking.depth / 2 + kPad;
  return blocking;
}

struct Sizes {
  int64_t sums, results, weights;  // floats of one sum of a, one result in scratch memory, one sum of b
};
Sizes BufferSizesOf(const Blocking& blocking) {
  const int64_t rows = CeilDiv(blocking.rows, 2), width = TileSimd().columns;
  return {rows * blocking.step, rows * (width + kPad), blocking.depth / 2 * width};
}
int64_t FloatsPerThread(const Blocking& blocking) {
  const Sizes sizes = BufferSizesOf(blocking);
  return 7 * sizes.sums + 3 * sizes.results + 4 * sizes.weights;
}

// Multiplies one block of rows of a by some columns of b, one pass over k at a time. The arguments of Run
// select the columns.
class Block {
 public:
  Block(const PanelProduct& p, const Blocking& blocking, int64_t index, float* scratch)
      : p_(p),
        blocking_(blocking),
        first_(index * blocking.rows),
        rows_(std::min(blocking.rows, p.m - first_)),
        upper_((rows_ + 1) / 2),
        lower_(rows_ - upper_),
        scratch_(scratch) {
    const Sizes sizes = BufferSizesOf(blocking);
    sums_ = sizes.sums;
    u_ = scratch + 7 * sums_, v_ = u_ + sizes.results, w_ = v_ + sizes.results;
    weights_ = w_ + sizes.results;
  }

  void Run(int64_t begin, int64_t end) {  // columns of each half of c
    if (p_.tile.residual) AddResidual(begin, end);
    for (k0_ = 0; k0_ < p_.k; k0_ += blocking_.depth) {
      half_ = std::min(blocking_.depth, p_.k - k0_) / 2;
      accumulate_ = k0_ > 0 || p_.accumulate || p_.tile.residual;
      last_ = k0_ + blocking_.depth >= p_.k;
      const bool paired = SetSums(p_.a + first_ * p_.a_row + k0_);
      for (int64_t n0 = begin; n0 < end; n0 += width_)
        if (paired)
          RunStrassen(n0);
        else
          RunPlain(n0);
    }
    if (!p_.epilogue || p_.epilogue->empty()) return;
    for (int64_t side = 0; side < 2; ++side) Finish(side * p_.n / 2 + begin, end - begin);
  }

 private:
  struct Left {
    const float* a;
    int64_t row;
  };

  // Computes the sums s1 to s4 of the quarters of a. Returns false if the rows must not be added to each
  // other. In this case, quarter_[0] is the entire block, with all columns of this pass.
  bool SetSums(const float* a) {
    StrassenSums in;
    in.a11 = a, in.a12 = a + half_;
    in.a21 = a + upper_ * p_.a_row, in.a22 = in.a21 + half_;
    in.a_row = p_.a_row;
    in.rows = upper_, in.lower = lower_, in.columns = half_;
    in.s = scratch_, in.step = blocking_.step, in.matrix = sums_;
    if (rows_ < kMinRows || !StrassenSimd().similar_magnitude(in)) {
      quarter_[0] = CopyIfColliding(a, rows_, 2 * half_, scratch_);
      return false;
    }
    StrassenSimd().sums(in);
    quarter_[0] = CopyIfColliding(in.a11, upper_, half_, scratch_ + 4 * sums_);
    quarter_[1] = CopyIfColliding(in.a12, upper_, half_, scratch_ + 5 * sums_);
    quarter_[2] = CopyIfColliding(in.a22, lower_, half_, scratch_ + 6 * sums_);
    return true;
  }
  // Returns the rows of a: in place, or copied if they collide in the L1 cache.
  Left CopyIfColliding(const float* a, int64_t rows, int64_t columns, float* to) const {
    if (!Collide(p_.a_row)) return {a, p_.a_row};
    const int64_t step = columns + kPad;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(a + r * p_.a_row, columns, to + r * step);
    return {to, step};
  }
  Left Sum(int i) const { return {scratch_ + (i - 1) * sums_, blocking_.step}; }

  void AddResidual(int64_t begin, int64_t end) const {
    for (int64_t r = first_; r < first_ + rows_; ++r)
      for (int64_t side = 0; side < 2; ++side) {
        const float* from = p_.tile.residual + r * p_.tile.residual_row + side * p_.n / 2;
        float* to = p_.c + r * p_.c_row + side * p_.n / 2;
        for (int64_t j = begin; j < end; ++j) to[j] = (p_.accumulate ? to[j] : 0) + from[j];
      }
  }

  // Multiplies by one panel of b. The caller sets c, residual, accumulate, bias and clip of t.
  void Multiply(const Left& left, const float* panel, int64_t k, int64_t rows, Tile t) const {
    if (rows == 0) return;
    t.a = left.a, t.a_row = left.row, t.b = panel;
    t.k = k, t.columns = width_;
    TileSimd().RunRows(t, rows);
  }
  // Returns a tile that writes to u_, v_ or w_ in scratch memory.
  Tile ToScratch(float* c, const float* residual, bool accumulate) const {
    Tile t;
    t.c = c, t.c_row = t.residual_row = width_ + kPad;
    t.residual = residual, t.accumulate = accumulate;
    return t;
  }
  // Returns a tile that writes to c, starting at row `row` of the block and at column `column`.
  Tile ToResult(int64_t row, int64_t column, const float* residual) const {
    Tile t = ToScratch(p_.c + (first_ + row) * p_.c_row + column, residual, accumulate_);
    t.c_row = p_.c_row;
    if (!last_) return t;
    t.bias = p_.tile.bias ? p_.tile.bias + column : nullptr;
    t.clip = p_.tile.clip, t.low = p_.tile.low, t.high = p_.tile.high;
    return t;
  }
  // Returns the panel of b that contains `column`, at the start of this pass over k.
  const float* PanelAt(int64_t column) const { return p_.panels + column * p_.k + k0_ * width_; }

  void RunStrassen(int64_t left) const {
    const int64_t right = p_.n / 2 + left, quarter = half_ * width_;
    const float *b11 = PanelAt(left), *b21 = b11 + quarter, *b12 = PanelAt(right), *b22 = b12 + quarter;
    StrassenSimd().weights({b11, b12, b21, b22, quarter, weights_, quarter});
    // The variable t4 points to -t4, see StrassenWeights.
    const float *t4 = weights_, *t1 = t4 + quarter, *t2 = t1 + quarter, *t3 = t2 + quarter;

    Multiply(quarter_[0], b11, half_, upper_, ToScratch(u_, nullptr, false));
    Multiply(quarter_[1], b21, half_, upper_, ToResult(0, left, u_));
    Multiply(Sum(2), t2, half_, upper_, ToScratch(u_, nullptr, true));
    Multiply(Sum(3), t3, half_, upper_, ToScratch(v_, u_, false));
    Multiply(Sum(1), t1, half_, upper_, ToScratch(w_, nullptr, false));
    const Tile c22 = ToResult(upper_, right, nullptr);
    StrassenSimd().combine({u_, v_, w_, width_ + kPad, c22.c, c22.c_row, upper_, lower_, width_,
                            c22.accumulate, c22.bias, c22.clip, c22.low, c22.high});
    Multiply(Sum(4), b22, half_, upper_, ToResult(0, right, u_));
    Multiply(quarter_[2], t4, half_, lower_, ToResult(upper_, left, v_));
  }
  void RunPlain(int64_t left) const {
    for (int64_t column : {left, p_.n / 2 + left})
      Multiply(quarter_[0], PanelAt(column), 2 * half_, rows_, ToResult(0, column, nullptr));
  }

  void Finish(int64_t column, int64_t width) const {
    const int64_t at = first_ * p_.c_row + column;
    p_.epilogue->Apply({rows_, width, p_.c_at + at, p_.c_row, p_.c + at, p_.c_row});
  }

  const PanelProduct& p_;
  const Blocking& blocking_;
  const int64_t first_, rows_, upper_, lower_;
  const int64_t width_ = TileSimd().columns;
  float* scratch_;  // s1 to s4, then copies of quarters of a
  int64_t sums_ = 0;
  float *u_ = nullptr, *v_ = nullptr, *w_ = nullptr;
  float* weights_ = nullptr;   // t1 to t4, sums of b
  int64_t k0_ = 0, half_ = 0;  // start of this pass over k, and half of its depth
  bool accumulate_ = false, last_ = false;
  Left quarter_[3] = {};  // a11, a12, a22
};

}  // namespace

bool StrassenFits(int64_t k, int64_t n) {
  return k > 0 && n > 0 && k % 2 == 0 && n % (2 * TileSimd().columns) == 0;
}

bool StrassenBalanced(const float* panels, int64_t k, int64_t n) {
  constexpr int32_t kTooLarge = (127 + 124) << 23, kMax = 2 << 23;
  const int64_t width = TileSimd().columns, lanes = StrassenSimd().lanes;
  std::vector<int32_t> columns(static_cast<size_t>(n)), parts(static_cast<size_t>(k * lanes)), rows;
  for (int64_t j = 0; j < n; j += width)
    StrassenSimd().panel_largest(panels + j * k, k, width, columns.data() + j, parts.data());
  for (auto row = parts.begin(); row != parts.end(); row += lanes)
    rows.push_back(*std::max_element(row, row + lanes));
  const auto balanced = [](const std::vector<int32_t>& magnitudes) {
    const auto [smallest, largest] = std::minmax_element(magnitudes.begin(), magnitudes.end());
    return *largest < kTooLarge && *largest - *smallest <= kMax;
  };
  return balanced(columns) && balanced(rows);
}

double StrassenGain(int64_t m, int64_t n, int64_t k) {
  const auto lost = [](double cost, int64_t size) {
    return cost / static_cast<double>(std::max<int64_t>(1, size));
  };
  // The constants are fitted to measured times.
  return 0.115 - lost(2, m) - lost(4, std::min(m, kMaxRows)) - lost(8, n) - lost(14, k) -
         (k > kMaxDepth ? 0.02 : 0) - (Collide(k, 4096) ? 0.035 : 0);
}

size_t StrassenScratch(const PanelProduct& p, int threads) {
  if (p.m <= 0) return 0;
  if (p.m < 2 * kMinRows) return PanelScratch(p, threads);
  return static_cast<size_t>(FloatsPerThread(BlockingOf(p, threads))) * sizeof(float) *
         static_cast<size_t>(threads);
}

void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0) return;
  if (p.m < 2 * kMinRows) return MultiplyPanels(p, scratch, workers);
  const Blocking blocking = BlockingOf(p, workers.threads());
  workers.ParallelFor(blocking.blocks * blocking.jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* thread_scratch = static_cast<float*>(scratch) + FloatsPerThread(blocking) * worker;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t n0 = job % blocking.jobs * blocking.columns;
      Block(p, blocking, job / blocking.jobs, thread_scratch)
          .Run(n0, std::min(n0 + blocking.columns, p.n / 2));
    }
  });
}

}  // namespace tern::cpu
