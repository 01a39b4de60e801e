// Mean and variance for normalisation ops.
#pragma once
#include <cmath>
#include <vector>

namespace tern {

struct RowStatistics {
  double mean = 0, inv_std = 0;  // inv_std is 1 / sqrt(variance + epsilon)
};

// Replaces each of the n numbers x by (x - mean) * inv_std. The variance is the population variance.
inline RowStatistics NormalizeRow(double* x, int64_t n, double epsilon) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double inv_std = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  for (int64_t i = 0; i < n; ++i) x[i] = (x[i] - mean) * inv_std;
  return {mean, inv_std};
}

}  // namespace tern
