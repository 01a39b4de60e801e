// Jacobi's methods for eigenvalues and singular values: rotations of pairs until all pairs are orthogonal.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "np/matrix.h"

namespace tern::v1::np {
namespace {

constexpr int kSweeps = 60;
constexpr double kEpsilon = 2.220446049250313e-16;

struct Rotation {
  double c, s;
};
// The rotation that makes [[p, g], [g, q]] diagonal.
Rotation RotationOf(double p, double q, double g) {
  const double zeta = (q - p) / (2 * g);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double c = 1 / std::sqrt(1 + t * t);
  return {c, c * t};
}
void Rotate(Rotation r, double* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double u = x[i];
    x[i] = r.c * u - r.s * y[i];
    y[i] = r.s * u + r.c * y[i];
  }
}
std::vector<int64_t> OrderOf(const std::vector<double>& values, bool descending) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double x = values[static_cast<size_t>(a)], y = values[static_cast<size_t>(b)];
    return descending ? x > y : x < y;
  });
  return order;
}

// Replaces row `i` by a vector of length 1 that is orthogonal to the rows before it. Starts from the unit
// vector of which most is left outside their span: a length of at least sqrt(1 - i / columns).
void Complete(Matrix& rows, int64_t i) {
  double* v = rows.row(i);
  std::fill(v, v + rows.columns, 0.0);
  for (int64_t j = 0; j < i; ++j)
    for (int64_t c = 0; c < rows.columns; ++c) v[c] += rows.at(j, c) * rows.at(j, c);
  const int64_t unit = std::min_element(v, v + rows.columns) - v;
  std::fill(v, v + rows.columns, 0.0);
  v[unit] = 1;
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t j = 0; j < i; ++j) {
      const double d = Dot(v, rows.row(j), rows.columns);
      for (int64_t c = 0; c < rows.columns; ++c) v[c] -= d * rows.at(j, c);
    }
  const double length = std::sqrt(Dot(v, v, rows.columns));
  for (int64_t c = 0; c < rows.columns; ++c) v[c] /= length;
}

}  // namespace

std::vector<double> SymmetricEigen(Matrix& a) {
  const int64_t n = a.rows;
  Matrix v = Identity(n);  // eigenvectors in rows
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        const double g = a.at(p, q);
        if (std::abs(g) <= kEpsilon * 0.01 * std::sqrt(std::abs(a.at(p, p) * a.at(q, q))) ||
            std::abs(g) < 1e-300)
          continue;
        rotated = true;
        const Rotation r = RotationOf(a.at(p, p), a.at(q, q), g);
        Rotate(r, a.row(p), a.row(q), n);
        for (int64_t i = 0; i < n; ++i) Rotate(r, &a.at(i, p), &a.at(i, q), 1);
        a.at(p, q) = a.at(q, p) = 0;
        Rotate(r, v.row(p), v.row(q), n);
      }
    if (!rotated) break;
  }
  std::vector<double> values, sorted;
  for (int64_t i = 0; i < n; ++i) values.push_back(a.at(i, i));
  const std::vector<int64_t> order = OrderOf(values, false);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    sorted.push_back(values[static_cast<size_t>(from)]);
    for (int64_t i = 0; i < n; ++i) a.at(i, j) = v.at(from, i);
  }
  return sorted;
}

SingularValues Svd(const Matrix& a) {
  if (a.rows < a.columns) {
    SingularValues t = Svd(Transposed(a));
    return {Transposed(t.vh), Transposed(t.u), t.s};
  }
  const int64_t m = a.rows, n = a.columns;
  Matrix w = Transposed(a), v = Identity(n);  // columns of A and of V in rows
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        const double x = Dot(w.row(p), w.row(p), m), y = Dot(w.row(q), w.row(q), m),
                     g = Dot(w.row(p), w.row(q), m);
        if (std::abs(g) <= kEpsilon * std::sqrt(x * y) || std::abs(g) < 1e-300) continue;
        rotated = true;
        const Rotation r = RotationOf(x, y, g);
        Rotate(r, w.row(p), w.row(q), m);
        Rotate(r, v.row(p), v.row(q), n);
      }
    if (!rotated) break;
  }
  std::vector<double> lengths;
  for (int64_t j = 0; j < n; ++j) lengths.push_back(std::sqrt(Dot(w.row(j), w.row(j), m)));
  const std::vector<int64_t> order = OrderOf(lengths, true);
  SingularValues out{Matrix(n, m), Matrix(n, n), {}};
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    const double s = lengths[static_cast<size_t>(from)];
    out.s.push_back(s);
    std::copy_n(v.row(from), n, out.vh.row(j));
    if (s > lengths[static_cast<size_t>(order[0])] * kEpsilon * static_cast<double>(m))
      for (int64_t i = 0; i < m; ++i) out.u.at(j, i) = w.at(from, i) / s;
    else
      Complete(out.u, j);
  }
  out.u = Transposed(out.u);
  return out;
}

}  // namespace tern::v1::np
