#include "kernels/cpu/gemm/strassen.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/gemm/strassen_simd.h"
#include "kernels/cpu/support/cut.h"

namespace tern::cpu {
namespace {

// Of k at once: its halves stay in the nearest caches. Of the rows of a block: sums of a's quarters stay in
// the second cache, and sums of b, which each block makes again, serve many of them.
constexpr int64_t kMostDepth = 768, kMostRows = 256;
constexpr int64_t kFewestColumns = 192;     // of half of c for a thread
constexpr int64_t kFewestRows = 16;         // that are worth pairing
constexpr int64_t kThreads = 4;             // that share blocks evenly, and half of them too
constexpr int64_t kWorthAThread = 1 << 18;  // multiplications
constexpr int64_t kPad = 16;                // floats between rows, so that they do not collide

// How a product is cut. Blocks of rows depend on the sizes only, since they say which rows are paired.
struct Cut {
  int64_t depth;          // of k at once, even
  int64_t rows, blocks;   // of a block, even but for the last one; blocks
  int64_t columns, jobs;  // of half of c that are computed at once, and jobs of a block
  int64_t step;           // from row to row of the sums of a
};

Cut CutOf(const PanelProduct& p, int threads) {
  const int64_t width = TileSimd().columns, half = p.n / 2;
  Cut cut{};
  cut.depth = PartOf(p.k, kMostDepth, 2);
  cut.blocks = CeilDiv(p.m, kMostRows);
  if (cut.blocks > 2) cut.blocks = CeilDiv(cut.blocks, kThreads) * kThreads;
  cut.rows = PartOf(p.m, CeilDiv(p.m, cut.blocks), 2);
  cut.blocks = CeilDiv(p.m, cut.rows);
  cut.columns = half;
  if (threads > 1) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const auto wanted = static_cast<int64_t>(std::min(work / kWorthAThread, threads * 2.0));
    // Each job makes the sums of its block again.
    int64_t jobs = std::min(CeilDiv(wanted, cut.blocks), std::max<int64_t>(threads, half / kFewestColumns));
    if (jobs > threads) jobs = jobs / threads * threads;
    if (cut.blocks < wanted) cut.columns = PartOf(half, CeilDiv(half, jobs), width);
  }
  cut.jobs = CeilDiv(half, cut.columns);
  cut.step = cut.depth / 2 + kPad;
  return cut;
}

struct Sizes {
  int64_t sums, results, weights;  // floats of one matrix
};
Sizes SizesOf(const Cut& cut) {
  const int64_t rows = CeilDiv(cut.rows, 2), width = TileSimd().columns;
  return {rows * cut.step, rows * (width + kPad), cut.depth / 2 * width};
}
int64_t FloatsPerThread(const Cut& cut) {
  const Sizes sizes = SizesOf(cut);
  return 7 * sizes.sums + 3 * sizes.results + 4 * sizes.weights;
}

// Some rows of a, some of k, all the same for the columns of c that a job computes.
class Block {
 public:
  Block(const PanelProduct& p, const Cut& cut, int64_t index, float* scratch)
      : p_(p),
        cut_(cut),
        first_(index * cut.rows),
        rows_(std::min(cut.rows, p.m - first_)),
        upper_((rows_ + 1) / 2),
        lower_(rows_ - upper_),
        scratch_(scratch) {
    const Sizes sizes = SizesOf(cut);
    sums_ = sizes.sums;
    u_ = scratch + 7 * sums_, v_ = u_ + sizes.results, w_ = v_ + sizes.results;
    weights_ = w_ + sizes.results;
  }

  void Run(int64_t begin, int64_t end) {  // columns of half of c
    if (p_.tile.residual) AddResidual(begin, end);
    for (k0_ = 0; k0_ < p_.k; k0_ += cut_.depth) {
      half_ = std::min(cut_.depth, p_.k - k0_) / 2;
      accumulate_ = k0_ > 0 || p_.accumulate || p_.tile.residual;
      last_ = k0_ + cut_.depth >= p_.k;
      const bool paired = SetSums(p_.a + first_ * p_.a_row + k0_);
      for (int64_t n0 = begin; n0 < end; n0 += width_)
        if (paired)
          Paired(n0);
        else
          Plain(n0);
    }
    if (!p_.epilogue || p_.epilogue->empty()) return;
    for (int64_t side = 0; side < 2; ++side) Finish(side * p_.n / 2 + begin, end - begin);
  }

 private:
  struct Left {
    const float* a;
    int64_t row;
  };

  // False where rows cannot be paired: quarter_[0] are all of them then, with all of k.
  bool SetSums(const float* a) {
    StrassenSums in;
    in.a11 = a, in.a12 = a + half_;
    in.a21 = a + upper_ * p_.a_row, in.a22 = in.a21 + half_;
    in.a_row = p_.a_row;
    in.rows = upper_, in.lower = lower_, in.columns = half_;
    in.s = scratch_, in.step = cut_.step, in.matrix = sums_;
    if (rows_ < kFewestRows || !StrassenSimd().alike(in)) {
      quarter_[0] = Spread(a, rows_, 2 * half_, scratch_);
      return false;
    }
    StrassenSimd().sums(in);
    quarter_[0] = Spread(in.a11, upper_, half_, scratch_ + 4 * sums_);
    quarter_[1] = Spread(in.a12, upper_, half_, scratch_ + 5 * sums_);
    quarter_[2] = Spread(in.a22, lower_, half_, scratch_ + 6 * sums_);
    return true;
  }
  // Rows of a where they lie, or copied if they would collide in the first cache.
  Left Spread(const float* a, int64_t rows, int64_t columns, float* to) const {
    if (!Collide(p_.a_row)) return {a, p_.a_row};
    const int64_t step = columns + kPad;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(a + r * p_.a_row, columns, to + r * step);
    return {to, step};
  }
  Left Sum(int i) const { return {scratch_ + (i - 1) * sums_, cut_.step}; }

  void AddResidual(int64_t begin, int64_t end) const {
    for (int64_t r = first_; r < first_ + rows_; ++r)
      for (int64_t side = 0; side < 2; ++side) {
        const float* from = p_.tile.residual + r * p_.tile.residual_row + side * p_.n / 2;
        float* to = p_.c + r * p_.c_row + side * p_.n / 2;
        for (int64_t j = begin; j < end; ++j) to[j] = (p_.accumulate ? to[j] : 0) + from[j];
      }
  }

  // One panel of b; t's c, residual, accumulate, bias and clip are set.
  void Multiply(const Left& left, const float* panel, int64_t k, int64_t rows, Tile t) const {
    if (rows == 0) return;
    t.a = left.a, t.a_row = left.row, t.b = panel;
    t.k = k, t.columns = width_;
    TileSimd().RunRows(t, rows);
  }
  // Into one of the results beside c.
  Tile To(float* c, const float* residual, bool accumulate) const {
    Tile t;
    t.c = c, t.c_row = t.residual_row = width_ + kPad;
    t.residual = residual, t.accumulate = accumulate;
    return t;
  }
  // Into c, from a row of the block and a column on.
  Tile ToResult(int64_t row, int64_t column, const float* residual) const {
    Tile t = To(p_.c + (first_ + row) * p_.c_row + column, residual, accumulate_);
    t.c_row = p_.c_row;
    if (!last_) return t;
    t.bias = p_.tile.bias ? p_.tile.bias + column : nullptr;
    t.clip = p_.tile.clip, t.low = p_.tile.low, t.high = p_.tile.high;
    return t;
  }
  // The panel of b of a column, from the part of k at hand on.
  const float* PanelAt(int64_t column) const { return p_.panels + column * p_.k + k0_ * width_; }

  void Paired(int64_t left) const {
    const int64_t right = p_.n / 2 + left, quarter = half_ * width_;
    const float *b11 = PanelAt(left), *b21 = b11 + quarter, *b12 = PanelAt(right), *b22 = b12 + quarter;
    StrassenSimd().weights({b11, b12, b21, b22, quarter, weights_, quarter});
    const float *t4 = weights_, *t1 = t4 + quarter, *t2 = t1 + quarter, *t3 = t2 + quarter;  // -t4

    Multiply(quarter_[0], b11, half_, upper_, To(u_, nullptr, false));
    Multiply(quarter_[1], b21, half_, upper_, ToResult(0, left, u_));
    Multiply(Sum(2), t2, half_, upper_, To(u_, nullptr, true));
    Multiply(Sum(3), t3, half_, upper_, To(v_, u_, false));
    Multiply(Sum(1), t1, half_, upper_, To(w_, nullptr, false));
    const Tile c22 = ToResult(upper_, right, nullptr);
    StrassenSimd().end({u_, v_, w_, width_ + kPad, c22.c, c22.c_row, upper_, lower_, width_, c22.accumulate,
                        c22.bias, c22.clip, c22.low, c22.high});
    Multiply(Sum(4), b22, half_, upper_, ToResult(0, right, u_));
    Multiply(quarter_[2], t4, half_, lower_, ToResult(upper_, left, v_));
  }
  void Plain(int64_t left) const {
    for (int64_t column : {left, p_.n / 2 + left})
      Multiply(quarter_[0], PanelAt(column), 2 * half_, rows_, ToResult(0, column, nullptr));
  }

  void Finish(int64_t column, int64_t width) const {
    const int64_t at = first_ * p_.c_row + column;
    p_.epilogue->Apply({rows_, width, p_.c_at + at, p_.c_row, p_.c + at, p_.c_row});
  }

  const PanelProduct& p_;
  const Cut& cut_;
  const int64_t first_, rows_, upper_, lower_;
  const int64_t width_ = TileSimd().columns;
  float* scratch_;  // s1 to s4, then quarters of a that are copied
  int64_t sums_ = 0;
  float *u_ = nullptr, *v_ = nullptr, *w_ = nullptr;
  float* weights_ = nullptr;   // sums of b
  int64_t k0_ = 0, half_ = 0;  // the part of k at hand, and half of its size
  bool accumulate_ = false, last_ = false;
  Left quarter_[3] = {};  // a11, a12, a22
};

}  // namespace

bool StrassenFits(int64_t k, int64_t n) {
  return k > 0 && n > 0 && k % 2 == 0 && n % (2 * TileSimd().columns) == 0;
}

bool StrassenEven(const float* panels, int64_t k, int64_t n) {
  constexpr int32_t kTooLarge = (127 + 124) << 23, kMost = 2 << 23;
  const int64_t width = TileSimd().columns, lanes = StrassenSimd().lanes;
  std::vector<int32_t> columns(static_cast<size_t>(n)), parts(static_cast<size_t>(k * lanes)), rows;
  for (int64_t j = 0; j < n; j += width)
    StrassenSimd().panel_largest(panels + j * k, k, width, columns.data() + j, parts.data());
  for (auto row = parts.begin(); row != parts.end(); row += lanes)
    rows.push_back(*std::max_element(row, row + lanes));
  const auto even = [](const std::vector<int32_t>& sizes) {
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    return *most < kTooLarge && *most - *least <= kMost;
  };
  return even(columns) && even(rows);
}

double StrassenGain(int64_t m, int64_t n, int64_t k) {
  const auto lost = [](double each, int64_t size) {
    return each / static_cast<double>(std::max<int64_t>(1, size));
  };
  return 0.115 - lost(2, m) - lost(4, std::min(m, kMostRows)) - lost(8, n) - lost(14, k) -
         (k > kMostDepth ? 0.02 : 0) - (Collide(k, 4096) ? 0.035 : 0);  // fitted to measured products
}

size_t StrassenScratch(const PanelProduct& p, int threads) {
  if (p.m <= 0) return 0;
  if (p.m < 2 * kFewestRows) return PanelScratch(p, threads);
  return static_cast<size_t>(FloatsPerThread(CutOf(p, threads))) * sizeof(float) *
         static_cast<size_t>(threads);
}

void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0) return;
  if (p.m < 2 * kFewestRows) return MultiplyPanels(p, scratch, workers);
  const Cut cut = CutOf(p, workers.threads());
  workers.ParallelFor(cut.blocks * cut.jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* mine = static_cast<float*>(scratch) + FloatsPerThread(cut) * worker;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t n0 = job % cut.jobs * cut.columns;
      Block(p, cut, job / cut.jobs, mine).Run(n0, std::min(n0 + cut.columns, p.n / 2));
    }
  });
}

}  // namespace tern::cpu
