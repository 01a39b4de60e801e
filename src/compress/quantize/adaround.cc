#include "compress/quantize/adaround.h"

#include <algorithm>

#include "compress/row_search.h"

namespace tern::compress {
namespace {

constexpr int kMaxInt8 = 127;

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
      RowSearch(
          real.row(row) + block.first,
          [scale = made.scales[static_cast<size_t>(row)]](size_t) { return scale; }, block.covariance.data(),
          block.columns, -kMaxInt8, kMaxInt8, made.values.data() + row * real.columns + block.first)
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
