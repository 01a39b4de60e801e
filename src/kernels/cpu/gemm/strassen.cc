#include "kernels/cpu/gemm/strassen.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/cpu/gemm/strassen_simd.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

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
constexpr int64_t kPad = 16;             // floats between rows, so that they do not collide in the L1 cache
constexpr int64_t kSumRows = 16;         // rows of a quarter per job that computes sums of a for all threads
constexpr int64_t kMaxShared = 8 << 20;  // maximum floats of sums of a that all threads share at a time

// Describes how a product is split. The blocks of rows determine which rows the algorithm adds to each other,
// and so how results are rounded. Therefore the blocks depend only on the sizes, not on the number of
// threads.
struct Blocking {
  int64_t depth;          // elements of k per pass, even
  int64_t rows, blocks;   // rows per block (even except in the last one); number of blocks
  int64_t columns, jobs;  // columns of each half of c per job; jobs per block
  int64_t step;           // row stride of the sums of a
  int64_t passes;         // over k
  // With more than two threads, all threads first compute the sums of several blocks of a. Then each job
  // computes a part of the rows of a block, for one panel of each half of c. With up to two threads, each job
  // computes the sums of a that it needs, and `parts` is 0.
  int64_t parts, part_rows;  // parts per block; rows of a quarter per part
  int64_t together;          // blocks whose sums are in the shared memory at a time
};

struct Sizes {
  int64_t sums, results, weights;  // floats of one sum of a, one result in scratch memory, one sum of b
};
Sizes BufferSizesOf(const Blocking& blocking) {
  const int64_t rows = CeilDiv(blocking.rows, 2), width = TileSimd().columns;
  return {rows * blocking.step, rows * (width + kPad), blocking.depth / 2 * width};
}
int64_t FloatsPerThread(const Blocking& blocking) {
  const Sizes sizes = BufferSizesOf(blocking);
  return (blocking.parts > 0 ? 0 : 7 * sizes.sums) + 3 * sizes.results + 4 * sizes.weights;
}
// Returns how many floats all threads share for one pass over a block. They are, in this order: a flag in a
// cache line of its own; s1 to s4; copies of three quarters of a, if rows of a collide.
int64_t SharedFloats(const PanelProduct& p, const Blocking& blocking) {
  return LineAligned(kPad + (Collide(p.a_row) ? 7 : 4) * BufferSizesOf(blocking).sums);
}

// Splits the product for more than two threads. Each job computes sums of b for its panels again, so it
// should have many rows.
Blocking Shared(const PanelProduct& p, int threads, Blocking blocking) {
  // Times per column of b and per element of k / 2: of the products of a row, and of the sums of b.
  constexpr double kRow = 7, kSums = 40;
  blocking.columns = TileSimd().columns;
  blocking.jobs = p.n / 2 / blocking.columns;
  const int64_t quarter = CeilDiv(blocking.rows, 2);
  double best = 0;
  for (int64_t parts = 1; parts <= CeilDiv(quarter, kMinRows); ++parts) {
    const int64_t rows = CeilDiv(quarter, parts);
    const double cost = JobRounds(blocking.blocks * blocking.jobs * parts, threads) *
                        (kRow * static_cast<double>(rows) + kSums);
    if (best > 0 && cost >= best) continue;
    best = cost;
    blocking.parts = CeilDiv(quarter, rows), blocking.part_rows = rows;
  }
  blocking.together =
      std::clamp<int64_t>(kMaxShared / (blocking.passes * SharedFloats(p, blocking)), 1, blocking.blocks);
  return blocking;
}

Blocking BlockingOf(const PanelProduct& p, int threads) {
  const int64_t width = TileSimd().columns, half = p.n / 2;
  Blocking blocking{};
  blocking.depth = EvenPartSize(p.k, kMaxDepth, 2);
  blocking.blocks = CeilDiv(p.m, kMaxRows);
  if (blocking.blocks > 2) blocking.blocks = CeilDiv(blocking.blocks, kThreadMultiple) * kThreadMultiple;
  blocking.rows = EvenPartSize(p.m, CeilDiv(p.m, blocking.blocks), 2);
  blocking.blocks = CeilDiv(p.m, blocking.rows);
  blocking.columns = half;
  blocking.step = blocking.depth / 2 + kPad;
  blocking.passes = CeilDiv(p.k, blocking.depth);
  if (threads > 2) return Shared(p, threads, blocking);
  if (threads > 1) {
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const auto target = static_cast<int64_t>(std::min(work / kMinWorkPerThread, threads * 2.0));
    // Each job computes the sums of its block again, so there are few jobs per block.
    int64_t jobs = std::min(CeilDiv(target, blocking.blocks), std::max<int64_t>(threads, half / kMinColumns));
    if (jobs > threads) jobs = jobs / threads * threads;
    if (blocking.blocks < target) blocking.columns = EvenPartSize(half, CeilDiv(half, jobs), width);
  }
  blocking.jobs = CeilDiv(half, blocking.columns);
  return blocking;
}

// Multiplies one block of rows of a by some columns of b, one pass over k at a time.
class Block {
 public:
  // `shared` is the shared memory of the block. It is null if the block has its own sums of a.
  Block(const PanelProduct& p, const Blocking& blocking, int64_t index, float* shared, float* scratch)
      : p_(p),
        blocking_(blocking),
        first_(index * blocking.rows),
        rows_(std::min(blocking.rows, p.m - first_)),
        upper_((rows_ + 1) / 2),
        lower_(rows_ - upper_),
        shared_(shared),
        scratch_(scratch) {
    const Sizes sizes = BufferSizesOf(blocking);
    sums_ = sizes.sums;
    u_ = shared ? scratch : scratch + 7 * sums_, v_ = u_ + sizes.results, w_ = v_ + sizes.results;
    weights_ = w_ + sizes.results;
  }

  // Computes columns [begin, end) of each half of c.
  void Run(int64_t begin, int64_t end) {
    part_ = {0, upper_, lower_};
    if (p_.tile.residual) AddResidual(begin, end);
    for (int64_t pass = 0; pass < blocking_.passes; ++pass) {
      SetPass(pass);
      const StrassenSums in = Quarters(0, upper_);
      const bool paired = rows_ >= kMinRows && StrassenSimd().similar_magnitude(in);
      if (paired) StrassenSimd().sums(in);
      SetLeft(paired, true);
      for (int64_t n0 = begin; n0 < end; n0 += width_)
        if (paired)
          RunStrassen(n0);
        else
          RunPlain(n0);
    }
    Finish(begin, end - begin);
  }

  // Prepares the shared memory for SumShared.
  void ClearShared() {
    for (int64_t pass = 0; pass < blocking_.passes; ++pass) SetPass(pass), Paired().store(rows_ >= kMinRows);
  }
  // Computes the shared sums of rows [begin, end) of the quarters, for one pass.
  void SumShared(int64_t pass, int64_t begin, int64_t end) {
    SetPass(pass);
    end = std::min(end, upper_);
    if (begin >= end || rows_ < kMinRows) return;
    const StrassenSums in = Quarters(begin, end);
    if (!StrassenSimd().similar_magnitude(in)) return Paired().store(0);
    StrassenSimd().sums(in);
    if (!Collide(p_.a_row)) return;
    const float* quarters[] = {in.a11, in.a12, in.a22};
    for (int i = 0; i < 3; ++i)
      CopyRows(quarters[i], i < 2 ? in.rows : in.lower, half_, Copied(i) + begin * (half_ + kPad));
  }
  // Computes one part of the rows, for one panel of each half of c. The shared sums are complete.
  void RunPart(int64_t panel, int64_t part) {
    const int64_t begin = part * blocking_.part_rows, end = std::min(begin + blocking_.part_rows, upper_);
    if (begin >= end) return;
    part_ = {begin, end - begin, std::clamp<int64_t>(lower_ - begin, 0, end - begin)};
    const int64_t n0 = panel * width_;
    if (p_.tile.residual) AddResidual(n0, n0 + width_);
    for (int64_t pass = 0; pass < blocking_.passes; ++pass) {
      SetPass(pass);
      const bool paired = Paired().load() != 0;
      SetLeft(paired, false);
      if (paired)
        RunStrassen(n0);
      else
        RunPlain(n0);
    }
    Finish(n0, width_);
  }

 private:
  struct Left {
    const float* a;
    int64_t row;
  };
  // Rows that Run or RunPart computes: [first, first + upper) of the upper quarters, and [first, first +
  // lower) of the lower quarters.
  struct Rows {
    int64_t first, upper, lower;
  };

  void SetPass(int64_t pass) {
    pass_ = pass;
    k0_ = pass * blocking_.depth;
    half_ = std::min(blocking_.depth, p_.k - k0_) / 2;
    accumulate_ = k0_ > 0 || p_.accumulate || p_.tile.residual;
    last_ = k0_ + blocking_.depth >= p_.k;
  }
  // The start of this pass over the block.
  const float* Start() const { return p_.a + first_ * p_.a_row + k0_; }
  float* OfPass() const { return shared_ + pass_ * SharedFloats(p_, blocking_); }
  float* Sums() const { return shared_ ? OfPass() + kPad : scratch_; }
  float* Copied(int64_t quarter) const { return Sums() + (4 + quarter) * sums_; }
  // Whether the shared sums may be used. Several jobs of a loop may clear this flag at the same time.
  std::atomic_ref<int32_t> Paired() const {
    return std::atomic_ref<int32_t>(*reinterpret_cast<int32_t*>(OfPass()));
  }

  // Rows [begin, end) of the quarters of a, and where their sums belong.
  StrassenSums Quarters(int64_t begin, int64_t end) const {
    StrassenSums in;
    const float* a = Start() + begin * p_.a_row;
    in.a11 = a, in.a12 = a + half_;
    in.a21 = a + upper_ * p_.a_row, in.a22 = in.a21 + half_;
    in.a_row = p_.a_row;
    in.rows = end - begin, in.lower = std::clamp<int64_t>(lower_ - begin, 0, in.rows), in.columns = half_;
    in.s = Sums() + begin * blocking_.step, in.step = blocking_.step, in.matrix = sums_;
    return in;
  }
  void CopyRows(const float* a, int64_t rows, int64_t columns, float* to) const {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(a + r * p_.a_row, columns, to + r * (columns + kPad));
  }
  // Sets quarter_ to the quarters of a. If `paired` is false, quarter_[0] is the entire block, with all
  // columns of this pass. Rows that collide in the L1 cache are read from copies. If `copy` is true, this
  // function makes the copies.
  void SetLeft(bool paired, bool copy) {
    const float* a = Start();
    const float* from[] = {a, a + half_, a + upper_ * p_.a_row + half_};
    const int64_t rows[] = {paired ? upper_ : rows_, upper_, lower_}, columns = paired ? half_ : 2 * half_;
    for (int i = 0; i < (paired ? 3 : 1); ++i) {
      quarter_[i] = {from[i], p_.a_row};
      if (!Collide(p_.a_row) || !(paired || copy)) continue;
      float* to = paired ? Copied(i) : Sums();
      if (copy) CopyRows(from[i], rows[i], columns, to);
      quarter_[i] = {to, columns + kPad};
    }
  }
  Left Sum(int i) const { return {Sums() + (i - 1) * sums_, blocking_.step}; }

  // Calls f(row, count) for the rows of the upper and of the lower quarters. `row` is a row of c.
  template <class F> void EachHalf(const F& f) const {
    if (part_.upper > 0) f(first_ + part_.first, part_.upper);
    if (part_.lower > 0) f(first_ + upper_ + part_.first, part_.lower);
  }

  void AddResidual(int64_t begin, int64_t end) const {
    EachHalf([&](int64_t row, int64_t count) {
      for (int64_t r = row; r < row + count; ++r)
        for (int64_t side = 0; side < 2; ++side) {
          const float* from = p_.tile.residual + r * p_.tile.residual_row + side * p_.n / 2;
          float* to = p_.c + r * p_.c_row + side * p_.n / 2;
          for (int64_t j = begin; j < end; ++j) to[j] = (p_.accumulate ? to[j] : 0) + from[j];
        }
    });
  }

  // Multiplies rows of this part by one panel of b. The caller sets c, residual, accumulate, bias and clip.
  void Multiply(const Left& left, const float* panel, int64_t k, int64_t rows, Tile t) const {
    if (rows == 0) return;
    t.a = left.a + part_.first * left.row, t.a_row = left.row, t.b = panel;
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
  // Returns a tile that writes to c, starting at row `row` of this part and at column `column`. `row` is 0,
  // or upper_ for the lower quarters.
  Tile ToResult(int64_t row, int64_t column, const float* residual) const {
    Tile t = ToScratch(p_.c + (first_ + part_.first + row) * p_.c_row + column, residual, accumulate_);
    t.c_row = p_.c_row;
    if (!last_) return t;
    t.bias = p_.tile.bias ? p_.tile.bias + column : nullptr;
    t.clip = p_.tile.clip, t.low = p_.tile.low, t.high = p_.tile.high;
    return t;
  }
  // Returns the panel of b that contains `column`, at the start of this pass over k.
  const float* PanelAt(int64_t column) const { return p_.panels + column * p_.k + k0_ * width_; }

  void RunStrassen(int64_t left) {
    const int64_t right = p_.n / 2 + left, quarter = half_ * width_, upper = part_.upper, lower = part_.lower;
    const float *b11 = PanelAt(left), *b21 = b11 + quarter, *b12 = PanelAt(right), *b22 = b12 + quarter;
    if (blocking_.passes > 1 || weights_of_ != left)
      StrassenSimd().weights({b11, b12, b21, b22, quarter, weights_, quarter});
    weights_of_ = left;
    // The variable t4 points to -t4, see StrassenWeights.
    const float *t4 = weights_, *t1 = t4 + quarter, *t2 = t1 + quarter, *t3 = t2 + quarter;

    Multiply(quarter_[0], b11, half_, upper, ToScratch(u_, nullptr, false));
    Multiply(quarter_[1], b21, half_, upper, ToResult(0, left, u_));
    Multiply(Sum(2), t2, half_, upper, ToScratch(u_, nullptr, true));
    Multiply(Sum(3), t3, half_, upper, ToScratch(v_, u_, false));
    Multiply(Sum(1), t1, half_, upper, ToScratch(w_, nullptr, false));
    const Tile c22 = ToResult(upper_, right, nullptr);
    StrassenSimd().combine({u_, v_, w_, width_ + kPad, c22.c, c22.c_row, upper, lower, width_, c22.accumulate,
                            c22.bias, c22.clip, c22.low, c22.high});
    Multiply(Sum(4), b22, half_, upper, ToResult(0, right, u_));
    Multiply(quarter_[2], t4, half_, lower, ToResult(upper_, left, v_));
  }
  void RunPlain(int64_t left) const {
    for (int64_t column : {left, p_.n / 2 + left}) {
      const Left lower{quarter_[0].a + upper_ * quarter_[0].row, quarter_[0].row};
      Multiply(quarter_[0], PanelAt(column), 2 * half_, part_.upper, ToResult(0, column, nullptr));
      Multiply(lower, PanelAt(column), 2 * half_, part_.lower, ToResult(upper_, column, nullptr));
    }
  }

  // Applies the epilogue to `width` columns of each half of c, from column `begin` of the half.
  void Finish(int64_t begin, int64_t width) const {
    if (!p_.epilogue || p_.epilogue->empty()) return;
    for (int64_t side = 0; side < 2; ++side)
      EachHalf([&](int64_t row, int64_t count) {
        const int64_t at = row * p_.c_row + side * p_.n / 2 + begin;
        p_.epilogue->Apply({count, width, p_.c_at + at, p_.c_row, p_.c + at, p_.c_row});
      });
  }

  const PanelProduct& p_;
  const Blocking& blocking_;
  const int64_t first_, rows_, upper_, lower_;  // first row, number of rows, rows of the quarters
  const int64_t width_ = TileSimd().columns;
  float *shared_, *scratch_;  // s1 to s4, then copies of quarters of a, are in one of them
  int64_t sums_ = 0;
  float *u_ = nullptr, *v_ = nullptr, *w_ = nullptr;
  float* weights_ = nullptr;  // t1 to t4, sums of b
  int64_t weights_of_ = -1;   // the column for which they were computed
  Rows part_{};
  int64_t pass_ = 0, k0_ = 0, half_ = 0;  // this pass over k, its start, and half of its depth
  bool accumulate_ = false, last_ = false;
  Left quarter_[3] = {};  // a11, a12, a22
};

// Computes blocks [first, last) with all threads. `shared` holds the sums of all these blocks.
void RunShared(const PanelProduct& p, const Blocking& blocking, int64_t first, int64_t last, float* shared,
               float* scratch, const Workers& workers) {
  const int64_t block_floats = blocking.passes * SharedFloats(p, blocking), blocks = last - first;
  const auto block = [&](int64_t index, float* thread_scratch) {
    return Block(p, blocking, first + index, shared + index * block_floats, thread_scratch);
  };
  for (int64_t i = 0; i < blocks; ++i) block(i, scratch).ClearShared();
  const int64_t pieces = CeilDiv(CeilDiv(blocking.rows, 2), kSumRows);
  workers.ParallelFor(blocks * blocking.passes * pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      const int64_t row = job % pieces * kSumRows, pass = job / pieces;
      block(pass / blocking.passes, scratch).SumShared(pass % blocking.passes, row, row + kSumRows);
    }
  });
  const int64_t parts = blocking.parts, jobs = blocking.jobs * parts;
  workers.ParallelFor(blocks * jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* thread_scratch = scratch + FloatsPerThread(blocking) * worker;
    while (begin < end) {
      const int64_t index = begin / jobs, stop = std::min(end, (index + 1) * jobs);
      for (Block b = block(index, thread_scratch); begin < stop; ++begin)
        b.RunPart(begin % jobs / parts, begin % parts);
    }
  });
}

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
  return MostScratch(threads, [&](int n) {
    const Blocking blocking = BlockingOf(p, n);
    const int64_t shared =
        blocking.parts > 0 ? blocking.together * blocking.passes * SharedFloats(p, blocking) : 0;
    return static_cast<size_t>(shared + FloatsPerThread(blocking) * n) * sizeof(float);
  });
}

void MultiplyStrassen(const PanelProduct& p, void* scratch, const Workers& workers) {
  if (p.m <= 0) return;
  if (p.m < 2 * kMinRows) return MultiplyPanels(p, scratch, workers);
  const Blocking blocking = BlockingOf(p, workers.threads());
  if (blocking.parts > 0) {
    auto* shared = static_cast<float*>(scratch);
    float* own = shared + blocking.together * blocking.passes * SharedFloats(p, blocking);
    for (int64_t first = 0; first < blocking.blocks; first += blocking.together)
      RunShared(p, blocking, first, std::min(first + blocking.together, blocking.blocks), shared, own,
                workers);
    return;
  }
  workers.ParallelFor(blocking.blocks * blocking.jobs, 1, [&](int64_t begin, int64_t end, int worker) {
    float* thread_scratch = static_cast<float*>(scratch) + FloatsPerThread(blocking) * worker;
    for (int64_t job = begin; job < end; ++job) {
      const int64_t n0 = job % blocking.jobs * blocking.columns;
      Block(p, blocking, job / blocking.jobs, nullptr, thread_scratch)
          .Run(n0, std::min(n0 + blocking.columns, p.n / 2));
    }
  });
}

}  // namespace tern::cpu
