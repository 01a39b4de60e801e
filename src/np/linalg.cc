#include <cmath>
#include <limits>

#include "np/matrix.h"
#include "np/rep.h"

namespace tern::v1::np::linalg {
namespace {

Type ResultType(const Store& x) { return x.dtype() == Type::kF32 ? Type::kF32 : Type::kF64; }

// The matrices of an array, in f64.
struct Matrices {
  Store x;
  int64_t rows, columns, count;
  Dims batch;
};

Matrices MatricesOf(const Store& given, bool square) {
  if (given.rank() < 2 || (square && given.dim(-1) != given.dim(-2)))
    Fail(square ? "a square matrix is needed, got " : "a matrix is needed, got ", given.Describe());
  Matrices m{Converted(given, Type::kF64),
             given.dim(-2),
             given.dim(-1),
             0,
             {given.dims().begin(), given.dims().end() - 2}};
  m.count = CountOf(m.batch);
  return m;
}

Matrix Load(const Matrices& m, int64_t i) {
  Matrix out(m.rows, m.columns);
  const double* from = m.x.data<double>() + i * m.rows * m.columns;
  std::copy(from, from + m.rows * m.columns, out.x.begin());
  return out;
}

// A result of the shape batch + tail, which is filled matrix by matrix.
struct Output {
  Store x;
  int64_t size;
  Output(const Dims& batch, const Dims& tail) : size(CountOf(tail)) {
    Dims dims = batch;
    dims.insert(dims.end(), tail.begin(), tail.end());
    x = New(Type::kF64, dims);
  }
  void Put(int64_t i, const std::vector<double>& values) {
    std::copy(values.begin(), values.end(), x.data<double>() + i * size);
  }
};

}  // namespace

Array solve(const Array& a, const Array& b) {
  return Make([&] {
    const bool vector = In(b).rank() == 1;
    const Store right = vector ? Reshaped(In(b), {In(b).size(), 1}) : In(b);
    Matrices m = MatricesOf(In(a), true), r = MatricesOf(right, false);
    if (r.rows != m.rows)
      Fail("solve: ", In(a).Describe(), " and ", In(b).Describe(), " have different numbers of rows");
    const Dims batch = BroadcastOf(m.batch, r.batch);
    const auto widen = [&](Matrices& x) {
      Dims dims = batch;
      dims.insert(dims.end(), {x.rows, x.columns});
      x.x = BroadcastTo(x.x, dims);
    };
    widen(m);
    widen(r);
    Output out(batch, vector ? Dims{m.rows} : Dims{m.rows, r.columns});
    for (int64_t i = 0; i < CountOf(batch); ++i) {
      Matrix lu = Load(m, i), x = Load(r, i);
      if (Eliminate(lu, x) == 0 && m.rows > 0) {
        bool singular = false;
        for (int64_t k = 0; k < m.rows; ++k) singular |= lu.at(k, k) == 0;
        if (singular) Fail("solve: matrix ", i, " of ", In(a).Describe(), " is singular");
      }
      BackSubstitute(lu, x);
      out.Put(i, x.x);
    }
    return Converted(out.x, Promoted(ResultType(In(a)), ResultType(In(b))));
  });
}

Array inv(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.rank() < 2 || x.dim(-1) != x.dim(-2)) Fail("a square matrix is needed, got ", x.Describe());
    return In(solve(a, eye(x.dim(-1)).astype(static_cast<DType>(ResultType(x)))));
  });
}

Array det(const Array& a) {
  return Make([&] {
    const Matrices m = MatricesOf(In(a), true);
    Output out(m.batch, {});
    for (int64_t i = 0; i < m.count; ++i) {
      Matrix lu = Load(m, i), nothing(m.rows, 0);
      out.Put(i, {Eliminate(lu, nothing)});
    }
    return Converted(out.x, ResultType(In(a)));
  });
}

Array cholesky(const Array& a) {
  return Make([&] {
    const Matrices m = MatricesOf(In(a), true);
    Output out(m.batch, {m.rows, m.rows});
    for (int64_t i = 0; i < m.count; ++i) {
      Matrix l = Load(m, i);
      if (!Cholesky(l)) Fail("cholesky: matrix ", i, " of ", In(a).Describe(), " is not positive definite");
      out.Put(i, l.x);
    }
    return Converted(out.x, ResultType(In(a)));
  });
}

Qr qr(const Array& a) {
  Qr result;
  result.q = Make([&] {
    const Matrices m = MatricesOf(In(a), false);
    const int64_t k = std::min(m.rows, m.columns);
    Output q(m.batch, {m.rows, k}), r(m.batch, {k, m.columns});
    for (int64_t i = 0; i < m.count; ++i) {
      Matrix x = Load(m, i);
      q.Put(i, HouseholderQr(x).x);
      r.Put(i, x.x);
    }
    result.r = Access::Of(Converted(r.x, ResultType(In(a))));
    return Converted(q.x, ResultType(In(a)));
  });
  if (!result.q.ok()) result.r = result.q;
  return result;
}

Eigh eigh(const Array& a) {
  Eigh result;
  result.eigenvectors = Make([&] {
    const Matrices m = MatricesOf(In(a), true);
    Output values(m.batch, {m.rows}), vectors(m.batch, {m.rows, m.rows});
    for (int64_t i = 0; i < m.count; ++i) {
      Matrix x = Load(m, i);
      for (int64_t r = 0; r < m.rows; ++r)
        for (int64_t c = r + 1; c < m.rows; ++c) x.at(r, c) = x.at(c, r);
      values.Put(i, SymmetricEigen(x));
      vectors.Put(i, x.x);
    }
    result.eigenvalues = Access::Of(Converted(values.x, ResultType(In(a))));
    return Converted(vectors.x, ResultType(In(a)));
  });
  if (!result.eigenvectors.ok()) result.eigenvalues = result.eigenvectors;
  return result;
}

Svd svd(const Array& a) {
  Svd result;
  result.s = Make([&] {
    const Matrices m = MatricesOf(In(a), false);
    const int64_t k = std::min(m.rows, m.columns);
    Output u(m.batch, {m.rows, k}), s(m.batch, {k}), vh(m.batch, {k, m.columns});
    for (int64_t i = 0; i < m.count; ++i) {
      const SingularValues x = np::Svd(Load(m, i));
      u.Put(i, x.u.x);
      s.Put(i, x.s);
      vh.Put(i, x.vh.x);
    }
    result.u = Access::Of(Converted(u.x, ResultType(In(a))));
    result.vh = Access::Of(Converted(vh.x, ResultType(In(a))));
    return Converted(s.x, ResultType(In(a)));
  });
  if (!result.s.ok()) result.u = result.vh = result.s;
  return result;
}

Array norm(const Array& a, double order, const Axis& axis, bool keepdims) {
  const Array x = a.astype(a.dtype() == DType::kF32 ? DType::kF32 : DType::kF64);
  const Array size = abs(x);
  if (order == 2) return sqrt(sum(multiply(x, x), axis, keepdims));
  if (order == 1) return sum(size, axis, keepdims);
  if (std::isinf(order) && x.size() == 0) return sum(size, axis, keepdims);  // 0
  if (std::isinf(order)) return order > 0 ? max(size, axis, keepdims) : min(size, axis, keepdims);
  if (order == 0) return sum(not_equal(x, 0).astype(x.dtype()), axis, keepdims);
  return power(sum(power(size, order), axis, keepdims), 1 / order);
}

}  // namespace tern::v1::np::linalg
