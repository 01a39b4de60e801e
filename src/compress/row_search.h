// Rounds one row of weights up or down so that the results of its layer change least, by coordinate descent.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace tern::compress {

// The errors are e = integer * scale - real. Their cost is eᵀ C e, where C, [n][n], is symmetric. An integer
// moves to its other neighbour if that decreases the cost. Run repeats this for all integers until none
// moves, but at most 20 times. `scale_of(i)` returns the scale of weight i. Integers stay between `low` and
// `high`, and less than one step from the real value.
template <class ScaleOf> class RowSearch {
 public:
  RowSearch(const float* real, ScaleOf scale_of, const float* c, int64_t n, int low, int high,
            int8_t* integers)
      : real_(real),
        scale_of_(scale_of),
        n_(static_cast<size_t>(n)),
        c_(c),
        low_(low),
        high_(high),
        q_(integers) {
    gradient_.assign(n_, 0);
    for (size_t i = 0; i < n_; ++i) {
      const float e = static_cast<float>(q_[i]) * scale_of_(i) - real_[i];
      if (e != 0) AddColumn(i, e);
    }
  }

  void Run() {
    constexpr int kMostSweeps = 20;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool moved = false;
      for (size_t i = 0; i < n_; ++i) moved = Move(i) || moved;
      if (!moved) return;
    }
  }

 private:
  // gradient = C e. C is symmetric, so that column i is row i.
  void AddColumn(size_t i, float factor) {
    const float* column = c_ + i * n_;
    for (size_t j = 0; j < n_; ++j) gradient_[j] += factor * column[j];
  }

  bool Move(size_t i) {
    const float scale = scale_of_(i), diagonal = c_[i * n_ + i];
    if (std::fabs(gradient_[i]) * 2 <= scale * diagonal * (1 + 1e-4F)) return false;
    const int step = gradient_[i] > 0 ? -1 : 1, to = q_[i] + step;
    if (to < low_ || to > high_ || std::fabs(static_cast<float>(to) - real_[i] / scale) >= 1) return false;
    q_[i] = static_cast<int8_t>(to);
    AddColumn(i, static_cast<float>(step) * scale);
    return true;
  }

  const float* real_;
  ScaleOf scale_of_;
  size_t n_;
  const float* c_;
  int low_, high_;
  int8_t* q_;
  std::vector<float> gradient_;
};

}  // namespace tern::compress
