#include "kernels/cpu/gemm/strassen.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/gemm/strassen_simd.h"
#include "kernels/cpu/support/cut.h"

namespace tern::cpu {
namespace {

// Of k at once: its halves stay in the nearest caches. Of the rows of a block: sums of a's quarters stay in
// the second cache; where sums of b are made again for each block, there are fewer blocks.
constexpr int64_t kMostDepth = 1024, kMostPlainDepth = 768;
constexpr int64_t kMostRows = 140, kMostPlainRows = 256;
constexpr int64_t kMostColumns = 256;                      // of half of c at once
constexpr int64_t kFewestColumns = 192;                    // of half of c for a thread
constexpr int64_t kFewestRows = 16;                        // that are worth pairing
constexpr int64_t kFew = 4;                                // rows that no cut separates
constexpr int64_t kThreads = 4;                            // that share blocks evenly, and half of them too
constexpr int64_t kWorthAThread = 1 << 18;                 // multiplications
constexpr int64_t kPad = 16;                               // floats between rows, so that they do not collide
enum { kB11, kB21, kB22, kT4, kT1, kT2, kT3, kProducts };  // of b: -t4 instead of t4

// How a product is cut. Blocks of rows depend on the sizes only, since they say which rows are paired.
struct Cut {
  int64_t depth;          // of k at once, even
  int64_t rows, blocks;   // of a block, even but for the last one; blocks
  int64_t columns, jobs;  // of half of c that are computed at once, and jobs of a block
  int64_t chunk;          // of those columns that go through all products together
  int64_t step;           // from row to row of the sums of a
  bool plain;
};

Cut CutOf(const PanelProduct& p, int threads, StrassenPanels panels) {
  const int64_t width = TileSimd().columns, half = p.n / 2;
  Cut cut{};
  cut.plain = panels == StrassenPanels::kPlain;
  cut.depth = PartOf(p.k, cut.plain ? kMostPlainDepth : kMostDepth, 2);
  cut.blocks = Quotient(p.m, cut.plain ? kMostPlainRows : kMostRows);
  if (cut.blocks > 2) cut.blocks = Quotient(cut.blocks, kThreads) * kThreads;
  cut.rows = PartOf(p.m, Quotient(p.m, cut.blocks), 2);
  cut.blocks = Quotient(p.m, cut.rows);
  cut.columns = half;
  if (threads > 1) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const auto wanted = static_cast<int64_t>(std::min(work / kWorthAThread, threads * 2.0));
    // Each job makes the sums of its block again.
    int64_t jobs = std::min(Quotient(wanted, cut.blocks), std::max<int64_t>(threads, half / kFewestColumns));
    if (jobs > threads) jobs = jobs / threads * threads;
    if (cut.blocks < wanted) cut.columns = PartOf(half, Quotient(half, jobs), width);
  }
  cut.jobs = Quotient(half, cut.columns);
  cut.chunk = cut.plain ? width : std::min(kMostColumns, cut.columns);
  cut.step = cut.depth / 2 + kPad;
  return cut;
}

struct Sizes {
  int64_t sums, results, weights;  // floats of one matrix
};
Sizes SizesOf(const Cut& cut) {
  const int64_t rows = std::max(cut.rows / 2, std::min(cut.rows, kFewestRows));
  return {rows * cut.step, rows * (cut.chunk + kPad), cut.plain ? cut.depth / 2 * TileSimd().columns : 0};
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
        scratch_(scratch) {
    const Sizes sizes = SizesOf(cut);
    sums_ = sizes.sums;
    u_ = scratch + 7 * sums_, v_ = u_ + sizes.results, w_ = v_ + sizes.results;
    weights_ = w_ + sizes.results;
  }

  void Run(int64_t begin, int64_t end) {  // columns of half of c
    if (p_.tile.residual) AddResidual(begin, end);
    for (int64_t k0 = 0; k0 < p_.k; k0 += cut_.depth) {
      half_ = std::min(cut_.depth, p_.k - k0) / 2;
      accumulate_ = k0 > 0 || p_.accumulate || p_.tile.residual;
      last_ = k0 + cut_.depth >= p_.k;
      k0_ = k0;
      SetSums(p_.a + first_ * p_.a_row + k0);
      for (int64_t n0 = begin; n0 < end; n0 += cut_.chunk) {
        n0_ = n0, columns_ = std::min(cut_.chunk, end - n0), step_ = columns_ + kPad;
        SetPanels();
        Columns();
      }
    }
    if (!p_.epilogue || p_.epilogue->empty()) return;
    for (int64_t side = 0; side < 2; ++side) Finish(side * p_.n / 2 + begin, end - begin);
  }

 private:
  struct Left {
    const float* a;
    int64_t row;
  };
  // Quarters of a themselves are read where they lie unless their rows would collide in the first cache.
  void SetSums(const float* a) {
    upper_ = (rows_ + 1) / 2, lower_ = rows_ - upper_;
    StrassenSums in;
    in.a11 = a, in.a12 = a + half_;
    in.a21 = a + upper_ * p_.a_row, in.a22 = in.a21 + half_;
    in.a_row = p_.a_row;
    in.rows = upper_, in.lower = lower_, in.columns = half_;
    in.s = scratch_, in.step = cut_.step, in.matrix = sums_;
    paired_ = rows_ >= kFewestRows && StrassenSimd().alike(in);
    if (paired_)
      StrassenSimd().sums(in);
    else
      upper_ = rows_, lower_ = 0;
    const float* quarters[3] = {in.a11, in.a12, in.a22};
    for (int i = 0; i < 3; ++i) {
      quarter_[i] = {quarters[i], p_.a_row};
      if (!Collide(p_.a_row)) continue;
      float* to = scratch_ + (paired_ ? 4 + i : 2 * i) * sums_;  // twice as many rows where there are no sums
      for (int64_t r = 0; r < (i < 2 ? upper_ : lower_); ++r)
        std::copy(quarters[i] + r * p_.a_row, quarters[i] + r * p_.a_row + half_, to + r * cut_.step);
      quarter_[i] = {to, cut_.step};
    }
  }
  // Of the columns that go through all products now.
  void SetPanels() {
    const int64_t half = p_.n / 2, width = TileSimd().columns;
    if (!cut_.plain) {
      const float* panels = p_.panels + k0_ / 2 * half * kProducts;
      for (int i = 0; i < kProducts; ++i) panels_[i] = panels + (i * half + n0_) * half_;
      return;
    }
    const float *left = p_.panels + n0_ * p_.k + k0_ * width, *right = left + half * p_.k;
    panels_[kB11] = left, panels_[kB21] = left + half_ * width, panels_[kB22] = right + half_ * width;
    StrassenSimd().weights(
        {left, right, panels_[kB21], panels_[kB22], half_ * width, weights_, half_ * width});
    for (int i = kT4; i < kProducts; ++i) panels_[i] = weights_ + (i - kT4) * half_ * width;
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

  // t's c, residual, accumulate, bias and clip are set.
  void Multiply(const Left& left, int product, int64_t rows, Tile t) const {
    if (rows == 0) return;
    const TileTable& table = TileSimd();
    t.a_row = left.row, t.k = half_, t.columns = table.columns;
    t.few = p_.m <= kFew;
    const Tile start = t;
    for (int64_t j = 0; j < columns_; j += table.columns) {
      t = start;
      t.a = left.a, t.b = panels_[product] + j * half_, t.c += j;
      if (t.bias) t.bias += j;
      if (t.residual) t.residual += j;
      table.RunRows(t, rows);
    }
  }
  // Into one of the results beside c.
  Tile To(float* c, const float* residual, bool accumulate) const {
    Tile t;
    t.c = c, t.c_row = t.residual_row = step_;
    t.residual = residual, t.accumulate = accumulate;
    return t;
  }
  // Into a quarter of c.
  Tile ToQuarter(int64_t row, int64_t column, const float* residual) const {
    Tile t = To(p_.c + (first_ + row) * p_.c_row + column, residual, accumulate_);
    t.c_row = p_.c_row;
    if (!last_) return t;
    t.bias = p_.tile.bias ? p_.tile.bias + column : nullptr;
    t.clip = p_.tile.clip, t.low = p_.tile.low, t.high = p_.tile.high;
    return t;
  }

  void Columns() {
    const int64_t right = p_.n / 2 + n0_;
    Multiply(quarter_[0], kB11, upper_, To(u_, nullptr, false));
    Multiply(quarter_[1], kB21, upper_, ToQuarter(0, n0_, u_));
    if (!paired_) {  // a1·b12 = a1·b11 + a1·t1: four products, as without the scheme
      Multiply(quarter_[0], kT1, upper_, To(u_, nullptr, true));
      return Multiply(quarter_[1], kB22, upper_, ToQuarter(0, right, u_));
    }
    Multiply(Sum(2), kT2, upper_, To(u_, nullptr, true));
    Multiply(Sum(3), kT3, upper_, To(v_, u_, false));
    Multiply(Sum(1), kT1, upper_, To(w_, nullptr, false));
    const Tile c22 = ToQuarter(upper_, right, nullptr);
    StrassenSimd().end({u_, v_, w_, step_, c22.c, c22.c_row, upper_, lower_, columns_, c22.accumulate,
                        c22.bias, c22.clip, c22.low, c22.high});
    Multiply(Sum(4), kB22, upper_, ToQuarter(0, right, u_));
    Multiply(quarter_[2], kT4, lower_, ToQuarter(upper_, n0_, v_));
  }

  void Finish(int64_t column, int64_t width) const {
    const int64_t at = first_ * p_.c_row + column;
    p_.epilogue->Apply({rows_, width, p_.c_at + at, p_.c_row, p_.c + at, p_.c_row});
  }

  const PanelProduct& p_;
  const Cut& cut_;
  const int64_t first_, rows_;
  int64_t upper_ = 0, lower_ = 0;  // rows of the halves; without pairs all are in the upper one
  bool paired_ = false;
  float* scratch_;  // s1 to s4, then quarters of a that are copied
  int64_t sums_ = 0;
  float *u_ = nullptr, *v_ = nullptr, *w_ = nullptr;
  int64_t half_ = 0;  // of k at once
  bool accumulate_ = false, last_ = false;
  float* weights_ = nullptr;             // sums of b that are not packed
  const float* panels_[kProducts] = {};  // of the columns at hand
  Left quarter_[3] = {};                 // a11, a12, a22
  int64_t k0_ = 0, n0_ = 0, columns_ = 0, step_ = 0;
};

// The seven panels of some rows of k, `step` floats apart, out of those of b's quarters.
void PackedSums(const float* const (&b)[4], int64_t count, int64_t step, float* to) {
  const float *b11 = b[0], *b12 = b[1], *b21 = b[2], *b22 = b[3];
  for (int64_t i = 0; i < count; ++i) {
    const float t1 = b12[i] - b11[i], t2 = b22[i] - t1;
    to[kB11 * step + i] = b11[i];
    to[kB21 * step + i] = b21[i];
    to[kB22 * step + i] = b22[i];
    to[kT1 * step + i] = t1;
    to[kT2 * step + i] = t2;
    to[kT3 * step + i] = b22[i] - b12[i];
    to[kT4 * step + i] = b21[i] - t2;
  }
}

}  // namespace

bool StrassenFits(int64_t k, int64_t n) {
  return k > 0 && n > 0 && k % 2 == 0 && n % (2 * TileSimd().columns) == 0;
}

double StrassenGain(int64_t m, int64_t n, int64_t k, StrassenPanels panels) {
  const auto lost = [](double each, int64_t size) {
    return each / static_cast<double>(std::max<int64_t>(1, size));
  };
  const double plain = panels == StrassenPanels::kPlain
                           ? lost(4, std::min(m, kMostPlainRows)) + (k > kMostPlainDepth ? 0.02 : 0)
                           : 0;
  return 0.125 - lost(2, m) - lost(4, n) - lost(14, k) - plain;  // fitted to measured products
}

int64_t StrassenSize(int64_t k, int64_t n) { return kProducts * PanelsSize(k / 2, n / 2); }

void PackStrassen(const PanelSource& source, int64_t k, int64_t n, float* to, const Workers& workers) {
  const TileTable& table = TileSimd();
  const int64_t half = n / 2, panels = half / table.columns, depth = PartOf(k, kMostDepth, 2);
  workers.ParallelFor(panels, 1, [&](int64_t begin, int64_t end) {
    const int64_t most = depth / 2 * table.columns;
    std::vector<float> quarters(static_cast<size_t>(4 * most));
    for (int64_t j = begin * table.columns; j < end * table.columns; j += table.columns)
      for (int64_t k0 = 0; k0 < k; k0 += depth) {
        const int64_t rows = std::min(depth, k - k0) / 2;
        const float* b[4];
        for (int64_t q = 0; q < 4; ++q) {
          const int64_t row = k0 + q / 2 * rows, column = j + q % 2 * half;
          float* here = quarters.data() + q * most;
          table.pack(source.b + row * source.row + column * source.column, source.row, source.column, rows,
                     table.columns, source.factor, here);
          b[q] = here;
        }
        PackedSums(b, rows * table.columns, half * rows, to + k0 / 2 * half * kProducts + j * rows);
      }
  });
}

size_t StrassenScratch(const PanelProduct& p, int threads, StrassenPanels panels) {
  if (p.m <= 0) return 0;
  if (panels == StrassenPanels::kPlain && p.m < 2 * kFewestRows) return PanelScratch(p, threads);
  return static_cast<size_t>(FloatsPerThread(CutOf(p, threads, panels))) * sizeof(float) *
         static_cast<size_t>(threads);
}

void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers, StrassenPanels panels) {
  if (p.m <= 0) return;
  if (panels == StrassenPanels::kPlain && p.m < 2 * kFewestRows) return MultiplyPanels(p, scratch, workers);
  const Cut cut = CutOf(p, workers.threads(), panels);
  workers.ParallelFor(cut.blocks * cut.jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* mine = static_cast<float*>(scratch) + FloatsPerThread(cut) * worker;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t n0 = job % cut.jobs * cut.columns;
      Block(p, cut, job / cut.jobs, mine).Run(n0, std::min(n0 + cut.columns, p.n / 2));
    }
  });
}

}  // namespace tern::cpu
