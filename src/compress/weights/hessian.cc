#include "compress/weights/hessian.h"

#include <cmath>

namespace tern::compress {
namespace {

// y[i] -= factor * x[i].
void Subtract(double* y, const double* x, double factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] -= factor * x[i];
}

// Overwrites the upper triangle of a, [n][n], with the upper triangular R for which Rᵀ R = a (Cholesky).
void Factor(std::vector<double>& a, int64_t n, const Workers& workers) {
  double* at = a.data();
  for (int64_t p = 0; p < n; ++p) {
    double* row = at + p * n;
    const double pivot = std::sqrt(std::max(row[p], 1e-300));
    for (int64_t j = p; j < n; ++j) row[j] /= pivot;
    const int64_t rest = n - p - 1;
    workers.ParallelFor(rest, std::max<int64_t>(1, 65536 / std::max<int64_t>(rest, 1)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = p + 1 + begin; i < p + 1 + end; ++i)
                            Subtract(at + i * n + i, row + i, row[i], n - i);
                        });
  }
}

}  // namespace

void Hessian::Add(const float* x, int64_t count, const Workers& workers) {
  const int64_t n = inputs;
  workers.ParallelFor(n, 8, [&](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < count; ++r) {
      const float* row = x + r * n;
      for (int64_t i = begin; i < end; ++i) {
        const double factor = row[i];
        double* to = sum.data() + i * n;
        for (int64_t j = 0; j < n; ++j) to[j] += factor * row[j];
      }
    }
  });
  rows += count;
}

std::vector<float> Hessian::Diagonal() const {
  std::vector<float> diagonal;
  for (int64_t i = 0; i < inputs; ++i)
    diagonal.push_back(static_cast<float>(sum[static_cast<size_t>(i * inputs + i)] /
                                          std::max<double>(1, static_cast<double>(rows))));
  return diagonal;
}

double Hessian::ErrorOf(const float* e) const {
  double total = 0;
  for (int64_t i = 0; i < inputs; ++i) {
    double row = 0;
    for (int64_t j = 0; j < inputs; ++j) row += sum[static_cast<size_t>(i * inputs + j)] * e[j];
    total += row * e[i];
  }
  return total / std::max<double>(1, static_cast<double>(rows));
}

// With the order of inputs reversed, the Cholesky factor of H gives an upper triangular R with R Rᵀ = H. Then
// U = R⁻¹.
std::vector<float> InverseFactor(const Hessian& hessian, double damping, const Workers& workers) {
  const int64_t n = hessian.inputs;
  double mean = 0;
  for (int64_t i = 0; i < n; ++i)
    mean += hessian.sum[static_cast<size_t>(i * n + i)] / static_cast<double>(n);
  const double added = mean > 0 ? damping * mean : 1;
  std::vector<double> reversed(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      reversed[static_cast<size_t>((n - 1 - i) * n + n - 1 - j)] =
          hessian.sum[static_cast<size_t>(i * n + j)] + (i == j ? added : 0);
  Factor(reversed, n, workers);
  // R[i][j] of the original order is the element (n - 1 - j, n - 1 - i) of the factor.
  std::vector<double> r(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j)
      r[static_cast<size_t>(i * n + j)] = reversed[static_cast<size_t>((n - 1 - j) * n + n - 1 - i)];
  std::vector<float> u(static_cast<size_t>(n * n));
  workers.ParallelFor(n, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> rest(static_cast<size_t>(n));
    for (int64_t i = begin; i < end; ++i) {
      std::fill(rest.begin(), rest.end(), 0);
      rest[static_cast<size_t>(i)] = 1;
      for (int64_t p = i; p < n; ++p) {
        const double* row = r.data() + p * n;
        const double v = rest[static_cast<size_t>(p)] / row[p];
        u[static_cast<size_t>(i * n + p)] = static_cast<float>(v);
        Subtract(rest.data() + p + 1, row + p + 1, v, n - p - 1);
      }
    }
  });
  return u;
}

}  // namespace tern::compress
