#include "compress/quantize/adaround.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {
namespace {

constexpr int kMostSweeps = 20;
constexpr int8_t kHighest = 127;

// One output channel and one block of columns.
class RowSearch {
 public:
  RowSearch(const float* real, float scale, const Moments::Block& block, int8_t* integers)
      : real_(real),
        scale_(scale),
        n_(static_cast<size_t>(block.columns)),
        c_(block.covariance.data()),
        q_(integers) {
    gradient_.assign(n_, 0);
    for (size_t i = 0; i < n_; ++i) {
      const float e = static_cast<float>(q_[i]) * scale_ - real_[i];
      if (e != 0) AddColumn(i, e);
    }
  }

  void Run() {
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

  // Moves weight i by one if that decreases eᵀ C e and leaves the weight less than one step from its real
  // value.
  bool Move(size_t i) {
    const float diagonal = c_[i * n_ + i];
    if (std::fabs(gradient_[i]) * 2 <= scale_ * diagonal * (1 + 1e-4F)) return false;
    const int step = gradient_[i] > 0 ? -1 : 1, to = q_[i] + step;
    if (std::abs(to) > kHighest || std::fabs(static_cast<float>(to) - real_[i] / scale_) >= 1) return false;
    q_[i] = static_cast<int8_t>(to);
    AddColumn(i, static_cast<float>(step) * scale_);
    return true;
  }

  const float* real_;
  float scale_;
  size_t n_;
  const float* c_;
  int8_t* q_;
  std::vector<float> gradient_;
};

// Calls f(row, group) for all output channels.
template <class F> void ForEachRow(int64_t rows, int64_t groups, const F& f) {
  const int64_t per_group = std::max<int64_t>(1, rows / groups);
  for (int64_t r = 0; r < rows; ++r) f(r, std::min(r / per_group, groups - 1));
}

}  // namespace

void RoundAdaptively(const WeightRows& real, const Moments& moments, double noise, const Workers& workers,
                     IntegerWeights& made) {
  const int64_t groups = moments.groups(), per_group = real.rows / groups;
  const auto round = [&](int64_t row, const std::vector<Moments::Block>& blocks) {
    for (const Moments::Block& block : blocks)
      RowSearch(real.row(row) + block.first, made.scales[static_cast<size_t>(row)], block,
                made.values.data() + row * real.columns + block.first)
          .Run();
  };
  if (groups == 1) {
    const std::vector<Moments::Block> blocks = moments.Covariance(0, noise);
    workers.ParallelFor(real.rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) round(r, blocks);
    });
    return;
  }
  workers.ParallelFor(groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const std::vector<Moments::Block> blocks = moments.Covariance(g, noise);
      for (int64_t r = g * per_group; r < (g + 1) * per_group; ++r) round(r, blocks);
    }
  });
}

std::vector<double> MeanErrors(const WeightRows& real, const Moments& moments, const IntegerWeights& made) {
  std::vector<double> errors;
  ForEachRow(real.rows, moments.groups(), [&](int64_t r, int64_t group) {
    double error = 0;
    for (int64_t c = 0; c < real.columns; ++c)
      error += (static_cast<double>(made.Real(r, c)) - static_cast<double>(real.row(r)[c])) *
               moments.Mean(group, c);
    errors.push_back(error);
  });
  return errors;
}

double ResultError(const WeightRows& real, const Moments& moments, const IntegerWeights& made) {
  double total = 0;
  std::vector<Moments::Block> blocks;
  int64_t known = -1;
  ForEachRow(real.rows, moments.groups(), [&](int64_t r, int64_t group) {
    if (group != known) blocks = moments.Covariance(group, 0), known = group;
    for (const Moments::Block& b : blocks)
      for (int64_t i = 0; i < b.columns; ++i) {
        const double e = made.Real(r, b.first + i) - real.row(r)[b.first + i];
        for (int64_t j = 0; j < b.columns; ++j)
          total += e * b.covariance[static_cast<size_t>(i * b.columns + j)] *
                   (made.Real(r, b.first + j) - real.row(r)[b.first + j]);
      }
  });
  return total / static_cast<double>(real.rows);
}

}  // namespace tern::compress
