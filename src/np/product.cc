// Products of matrices and tensors.
#include <numeric>

#include "kernels/cpu/gemm/gemm.h"
#include "np/rep.h"

namespace tern::v1::np {
namespace {

// The type in which a product is computed: u8 and bool have no GEMM.
Type ComputeType(Type type) { return type == Type::kU8 || type == Type::kBool ? Type::kI64 : type; }

// Offsets of the matrices of an operand in a broadcast batch, in elements.
std::vector<int64_t> Offsets(const Dims& batch, const Store& x) {
  const int64_t matrix = x.dim(-1) * x.dim(-2);
  const Dims own(x.dims().begin(), x.dims().end() - 2);
  std::vector<int64_t> out(static_cast<size_t>(CountOf(batch)));
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, step = 1;
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      const int64_t size = batch[batch.size() - 1 - axis], position = rest % size;
      rest /= size;
      if (axis >= own.size()) continue;
      const int64_t length = own[own.size() - 1 - axis];
      if (length != 1) at += position * step;
      step *= length;
    }
    out[i] = at * matrix;
  }
  return out;
}

// Multiplies operands with at least two axes.
Store Multiplied(const Store& a, const Store& b) {
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  if (b.dim(-2) != k) Fail("inner dimensions differ: ", a.Describe(), " and ", b.Describe());
  const Dims batch =
      BroadcastOf({a.dims().begin(), a.dims().end() - 2}, {b.dims().begin(), b.dims().end() - 2});
  Dims dims = batch;
  dims.insert(dims.end(), {m, n});
  Store c = New(a.dtype(), dims);
  if (c.size() == 0) return c;
  const std::vector<int64_t> a_at = Offsets(batch, a), b_at = Offsets(batch, b);
  std::vector<int64_t> c_at(a_at.size());
  for (size_t i = 0; i < c_at.size(); ++i) c_at[i] = static_cast<int64_t>(i) * m * n;
  cpu::GemmParams p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = {a.raw(), a.dtype(), k, 1};
  p.b = {b.raw(), b.dtype(), n, 1};
  p.c = c.raw();
  p.c_type = c.dtype();
  p.c_row = n;
  p.count = static_cast<int64_t>(c_at.size());
  p.a_at = a_at.data();
  p.b_at = b_at.data();
  p.c_at = c_at.data();
  const tern::Buffer scratch = tern::Buffer::Allocate(cpu::GemmScratch(p, Pool().threads()));
  cpu::Gemm(p, scratch.data(), Pool());
  return c;
}

Store Product(const Array& a, const Array& b) {
  const Type type = PromotedOf(a, b);
  Store x = Converted(In(a), ComputeType(type)), y = Converted(In(b), ComputeType(type));
  if (x.rank() == 0 || y.rank() == 0) Fail("matmul needs axes, got ", x.Describe(), " and ", y.Describe());
  const bool row = x.rank() == 1, column = y.rank() == 1;
  if (row) x = Reshaped(x, {1, x.size()});
  if (column) y = Reshaped(y, {y.size(), 1});
  const Store c = Converted(Multiplied(x, y), type);
  Dims dims = c.dims();
  if (row) dims.erase(dims.end() - 2);
  if (column) dims.pop_back();
  return c.Reshaped(dims);
}

}  // namespace

Array matmul(const Array& a, const Array& b) {
  return Make([&] { return Product(a, b); });
}

Array dot(const Array& a, const Array& b) {
  return Make([&] {
    const Store &x = In(a), &y = In(b);
    if (x.rank() == 0 || y.rank() == 0) return In(multiply(a, b));
    if (y.rank() <= 2) return Product(a, b);
    // Contract the last axis of `a` with the second to last axis of `b`.
    const Array moved = moveaxis(b, -2, 0);
    const int64_t k = y.dim(-2);
    if (x.dim(-1) != k) Fail("inner dimensions differ: ", x.Describe(), " and ", y.Describe());
    Dims dims(x.dims().begin(), x.dims().end() - 1);
    dims.insert(dims.end(), moved.shape().begin() + 1, moved.shape().end());
    const auto rest = [k](const Store& s) { return k ? s.size() / k : 0; };
    if (CountOf(dims) == 0 || k == 0) return In(zeros(dims, static_cast<DType>(PromotedOf(a, b))));
    return Reshaped(In(matmul(a.reshape({rest(x), k}), moved.reshape({k, rest(y)}))), dims);
  });
}

Array outer(const Array& a, const Array& b) {
  return multiply(ravel(a).reshape({-1, 1}), ravel(b).reshape({1, -1}));
}

Array tensordot(const Array& a, const Array& b, int64_t axes) {
  return Make([&] {
    const Store &x = In(a), &y = In(b);
    if (axes < 0 || axes > x.rank() || axes > y.rank())
      Fail("tensordot over ", axes, " axes of ", x.Describe(), " and ", y.Describe());
    const Dims left(x.dims().begin(), x.dims().end() - axes), inner(x.dims().end() - axes, x.dims().end());
    const Dims right(y.dims().begin() + axes, y.dims().end());
    if (!std::equal(inner.begin(), inner.end(), y.dims().begin()))
      Fail("tensordot over ", axes, " axes of ", x.Describe(), " and ", y.Describe());
    Dims dims = left;
    dims.insert(dims.end(), right.begin(), right.end());
    const int64_t k = CountOf(inner);
    return Reshaped(In(matmul(a.reshape({CountOf(left), k}), b.reshape({k, CountOf(right)}))), dims);
  });
}

Array trace(const Array& a) {
  return Make([&] {
    const Store& x = In(a);
    if (x.rank() < 2) Fail("a trace needs two axes, got ", x.Describe());
    std::vector<Array> parts;
    for (int64_t i = 0; i < std::min(x.dim(0), x.dim(1)); ++i) parts.push_back(a(i, i));
    if (parts.empty())
      return In(zeros({x.dims().begin() + 2, x.dims().end()}, static_cast<DType>(SumOf(x.dtype()))));
    return In(sum(stack(parts), 0));
  });
}

}  // namespace tern::v1::np
