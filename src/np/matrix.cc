#include "np/matrix.h"

#include <algorithm>
#include <cmath>

namespace tern::v1::np {
namespace {

// y += factor * x
void AddScaled(double factor, const double* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace

double Dot(const double* x, const double* y, int64_t n) {
  double sum[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int64_t lane = 0; lane < 4; ++lane) sum[lane] += x[i + lane] * y[i + lane];
  for (; i < n; ++i) sum[0] += x[i] * y[i];
  return sum[0] + sum[1] + (sum[2] + sum[3]);
}

Matrix Identity(int64_t n) {
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i) out.at(i, i) = 1;
  return out;
}

Matrix Transposed(const Matrix& a) {
  Matrix out(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) out.at(j, i) = a.at(i, j);
  return out;
}

double Eliminate(Matrix& a, Matrix& b) {
  const int64_t n = a.rows;
  double determinant = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k))) pivot = i;
    if (pivot != k) {
      std::swap_ranges(a.row(k), a.row(k) + n, a.row(pivot));
      std::swap_ranges(b.row(k), b.row(k) + b.columns, b.row(pivot));
      determinant = -determinant;
    }
    determinant *= a.at(k, k);
    if (a.at(k, k) == 0) return 0;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a.at(i, k) / a.at(k, k);
      if (factor == 0) continue;
      a.at(i, k) = factor;
      AddScaled(-factor, a.row(k) + k + 1, a.row(i) + k + 1, n - k - 1);
      AddScaled(-factor, b.row(k), b.row(i), b.columns);
    }
  }
  return determinant;
}

void BackSubstitute(const Matrix& u, Matrix& b) {
  for (int64_t i = u.rows; i-- > 0;) {
    for (int64_t j = i + 1; j < u.rows; ++j) AddScaled(-u.at(i, j), b.row(j), b.row(i), b.columns);
    for (int64_t c = 0; c < b.columns; ++c) b.at(i, c) /= u.at(i, i);
  }
}

bool Cholesky(Matrix& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const double rest = a.at(i, j) - Dot(a.row(i), a.row(j), j);
      if (i == j && !(rest > 0)) return false;
      a.at(i, j) = i == j ? std::sqrt(rest) : rest / a.at(j, j);
    }
    std::fill(a.row(i) + i + 1, a.row(i) + a.columns, 0.0);
  }
  return true;
}

Matrix HouseholderQr(Matrix& a) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Matrix columns = Transposed(a);  // column j of `a` is row j
  std::vector<double> tau(static_cast<size_t>(k));
  for (int64_t j = 0; j < k; ++j) {
    double* v = columns.row(j);
    const double rest = std::sqrt(Dot(v + j + 1, v + j + 1, m - j - 1));
    if (rest == 0) continue;  // H is the identity
    const double beta = -std::copysign(std::hypot(v[j], rest), v[j]);
    tau[static_cast<size_t>(j)] = (beta - v[j]) / beta;
    const double scale = 1 / (v[j] - beta);
    for (int64_t i = j + 1; i < m; ++i) v[i] *= scale;
    v[j] = 1;
    for (int64_t c = j + 1; c < n; ++c)
      AddScaled(-tau[static_cast<size_t>(j)] * Dot(v + j, columns.row(c) + j, m - j), v + j,
                columns.row(c) + j, m - j);
    a.at(j, j) = beta;  // the diagonal of R; `v` keeps the reflector
  }
  Matrix q(k, m);  // the columns of Q
  for (int64_t j = 0; j < k; ++j) q.at(j, j) = 1;
  for (int64_t j = k; j-- > 0;) {
    if (tau[static_cast<size_t>(j)] == 0) continue;
    const double* v = columns.row(j) + j;
    for (int64_t c = j; c < k; ++c)
      AddScaled(-tau[static_cast<size_t>(j)] * Dot(v, q.row(c) + j, m - j), v, q.row(c) + j, m - j);
  }
  Matrix r(k, n);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = i; j < n; ++j)
      r.at(i, j) =
          i == j ? (tau[static_cast<size_t>(i)] == 0 ? columns.at(i, i) : a.at(i, i)) : columns.at(j, i);
  a = r;
  return Transposed(q);
}

}  // namespace tern::v1::np
