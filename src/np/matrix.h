// Dense factorisations of one row-major matrix in double precision.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tern::v1::np {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> x;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), x(static_cast<size_t>(r * c)) {}
  double* row(int64_t i) { return x.data() + i * columns; }
  const double* row(int64_t i) const { return x.data() + i * columns; }
  double& at(int64_t i, int64_t j) { return x[static_cast<size_t>(i * columns + j)]; }
  double at(int64_t i, int64_t j) const { return x[static_cast<size_t>(i * columns + j)]; }
};
double Dot(const double* x, const double* y, int64_t n);
Matrix Identity(int64_t n);
Matrix Transposed(const Matrix& a);

// Replaces `a` by L and U with row exchanges, and applies the exchanges and the inverse of L to the rows of
// `b`. Returns the determinant. Stops if a pivot is 0, and returns 0.
double Eliminate(Matrix& a, Matrix& b);
void BackSubstitute(const Matrix& u, Matrix& b);  // b = U^-1 b
bool Cholesky(Matrix& a);                         // replaces `a` by L; false if `a` is not positive definite
// Replaces `a` by R and returns Q, which has min(rows, columns) columns. The signs are LAPACK's.
Matrix HouseholderQr(Matrix& a);
// Replaces a symmetric matrix by its eigenvectors in columns; returns the eigenvalues in ascending order.
std::vector<double> SymmetricEigen(Matrix& a);
struct SingularValues {
  Matrix u, vh;
  std::vector<double> s;  // descending
};
SingularValues Svd(const Matrix& a);

}  // namespace tern::v1::np
