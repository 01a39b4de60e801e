// MatMul: matrix products, batched and broadcast as in numpy.
#include <algorithm>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/matmul/product_macs.h"
#include "ops/support/epilogue.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct MatMul {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    v("transpose_a", transpose_a, "swap the last two axes of a before the product; a vector is unchanged");
    v("transpose_b", transpose_b, "swap the last two axes of b before the product; a vector is unchanged");
    v("alpha", alpha, "factor of the product, not of the bias");
    epilogue.Visit(v);
  }
};

// An operand as a batch of matrices. If the left operand is a vector, it is one row. If the right operand is
// a vector, it is one column. The result has no axis for this row or column.
struct Operand {
  std::vector<Dim> batch;
  Dim rows, columns;
  bool vector;
};

Operand Split(const Shape& s, bool transpose, bool left) {
  if (s.rank() == 1) return {{}, left ? Dim(1) : s[0], left ? s[0] : Dim(1), true};
  return {{s.dims.begin(), s.dims.end() - 2}, transpose ? s[-1] : s[-2], transpose ? s[-2] : s[-1], false};
}

Result<Shape> ProductShape(const MatMul& op, const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) return InvalidModel("inputs must have rank 1 or more");
  if (!a.ranked || !b.ranked) return Shape();
  const Operand l = Split(a, op.transpose_a, true), r = Split(b, op.transpose_b, false);
  if (Differ(l.columns, r.rows))
    return InvalidModel("inner dimensions differ: ", l.columns.value(), " columns of a against ",
                        r.rows.value(), " rows of b");
  TERN_ASSIGN(Shape y, BroadcastShapes(Shape(l.batch), Shape(r.batch)));
  if (!l.vector) y.dims.push_back(l.rows);
  if (!r.vector) y.dims.push_back(r.columns);
  return y;
}

Status Infer(const MatMul& op, InferContext& c) {
  TERN_ASSIGN(Shape y, ProductShape(op, c.ShapeOf("a"), c.ShapeOf("b")));
  TERN_ASSIGN(DType type, ProductType(c.TypeOf("a"), c.TypeOf("b")));
  if (c.Has("bias")) {
    TERN_TRY(CheckBroadcastsTo("bias", c.ShapeOf("bias"), y));
    TERN_TRY(CheckTermType(c, "bias", type));
  }
  TERN_TRY(InferEpilogue(op.epilogue, c, y, type));
  c.Out("y", type, std::move(y));
  return {};
}

template <class T> std::vector<T> Load(const Tensor& t) {
  if constexpr (std::is_same_v<T, double>) {
    return ToDoubles(t);
  } else {
    const auto longs = ToLongs(t);
    return {longs.begin(), longs.end()};
  }
}

// Transposes [batch, rows, columns] to [batch, columns, rows].
template <class T> std::vector<T> Transposed(const std::vector<T>& v, int64_t rows, int64_t columns) {
  std::vector<T> out(v.size());
  const size_t area = static_cast<size_t>(rows * columns), r = static_cast<size_t>(rows),
               w = static_cast<size_t>(columns);
  for (size_t base = 0; area && base < v.size(); base += area)
    for (size_t i = 0; i < r; ++i)
      for (size_t j = 0; j < w; ++j) out[base + j * r + i] = v[base + i * w + j];
  return out;
}

// Computes y += a·b for matrices a [m, k], b [k, n] and y [m, n]. The inner loop walks rows of b and y, so
// that its accesses are contiguous.
template <class T> void Multiply(const T* a, const T* b, T* y, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      const T factor = a[i * k + p];
      const T* row = b + p * n;
      T* out = y + i * n;
      for (int64_t j = 0; j < n; ++j) out[j] += factor * row[j];
    }
}

// For each matrix of the result, returns the index of the operand's matrix that it is computed from.
std::vector<int64_t> MatrixNumbers(const Dims& batch, const Dims& result) {
  std::vector<int64_t> numbers(static_cast<size_t>(CountOf(batch)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  return BroadcastTo(numbers, batch, result);
}

double Scaled(double v, float alpha) { return v * alpha; }
uint64_t Scaled(uint64_t v, float alpha) {
  if (alpha == 1) return v;
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(v)) * alpha));
}

void Store(EvalContext& c, const Dims& dims, const std::vector<double>& y) { c.Out("y", dims, y); }
void Store(EvalContext& c, const Dims& dims, const std::vector<uint64_t>& y) {
  c.OutLongs("y", dims, {y.begin(), y.end()});
}

// T is double for floats and uint64_t for integers. Unsigned arithmetic wraps, so the low bits of the result
// are right for every integer type.
template <class T> void Compute(const MatMul& op, EvalContext& c, const Dims& dims) {
  const Tensor &ta = c.In("a"), &tb = c.In("b");
  const Operand l = Split(Shape::Of(ta.dims()), op.transpose_a, true),
                r = Split(Shape::Of(tb.dims()), op.transpose_b, false);
  const int64_t m = l.rows.value(), k = l.columns.value(), n = r.columns.value();
  std::vector<T> a = Load<T>(ta), b = Load<T>(tb);
  if (op.transpose_a && !l.vector) a = Transposed(a, k, m);
  if (op.transpose_b && !r.vector) b = Transposed(b, n, k);
  const Dims batch(dims.begin(), dims.end() - (l.vector ? 0 : 1) - (r.vector ? 0 : 1));
  const auto from_a = MatrixNumbers(Shape(l.batch).Concrete(), batch),
             from_b = MatrixNumbers(Shape(r.batch).Concrete(), batch);
  std::vector<T> y(static_cast<size_t>(CountOf(dims)), T{0});
  for (size_t i = 0; i < from_a.size(); ++i)
    Multiply(a.data() + from_a[i] * m * k, b.data() + from_b[i] * k * n,
             y.data() + static_cast<int64_t>(i) * m * n, m, k, n);
  for (T& v : y) v = Scaled(v, op.alpha);
  if (c.Has("bias")) {
    const auto bias = BroadcastTo(Load<T>(c.In("bias")), c.In("bias").dims(), dims);
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i];
  }
  ApplyEpilogue(op.epilogue, c, dims, y);
  Store(c, dims, y);
}

Status Reference(const MatMul& op, EvalContext& c) {
  TERN_ASSIGN(Shape y, ProductShape(op, Shape::Of(c.In("a").dims()), Shape::Of(c.In("b").dims())));
  if (IsFloat(c.OutType("y")))
    Compute<double>(op, c, y.Concrete());
  else
    Compute<uint64_t>(op, c, y.Concrete());
  return {};
}

// The outermost axis of a is the batch axis if a is not transposed and b is a single matrix.
bool MatMulBatch(BatchItems& b) {
  return !b.attrs().As<MatMul>().transpose_a && b.InDims(0).size() >= 2 && b.InDims(1).size() == 2 &&
         b.WithEpilogue();
}

constexpr int64_t kTypicalRows = 16;

int64_t TypicalDim(const StaticNode& n, size_t input, size_t axis) {
  const size_t rank = n.inputs[input].dims.size();
  const bool transposed = input == 0 && rank > 1 && n.attrs->As<MatMul>().transpose_a;
  const size_t rows = transposed ? rank - 1 : rank - 2, inner = transposed ? rank - 2 : rank - 1;
  return axis == inner ? kSizeOfWeights : axis == rows ? kTypicalRows : 1;
}

}  // namespace

TERN_OP(MatMul) {
  return OpDef::Of<MatMul>(
             "y = activation(alpha * a @ b + bias + residual); y is i32 if a and b are integers of less than 32 bits")
      .In("a", kNumbers)
      .Weight("b", kNumbers)
      .OptIn("bias", kNumbers)
      .OptIn("residual", kNumbers)
      .Out("y", kNumbers)
      .Traits(kPure | kEpilogue)
      .Macs(ProductMacs)
      .Flops(EpilogueFlops)
      .Batch(MatMulBatch)
      .Axes(No{"the matrices must be in the last two axes"})
      .TypicalDims(TypicalDim)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
