// DFT: the discrete Fourier transform along an axis.
#include "ops/shape/axes.h"
#include "ops/signal/fourier.h"

namespace tern {
namespace {

struct DFT {
  bool inverse = false;
  bool onesided = false;
  template <class V> void Visit(V& v) {
    v("inverse", inverse, "inverse transform, divided by the length");
    v("onesided", onesided,
      "the signal is real, and the spectrum has only the first length/2 + 1 frequencies");
  }
};

Result<int> AxisOf(int64_t axis, int rank) {
  TERN_ASSIGN(const int a, NormalizeAxis(axis, rank));
  if (a == rank - 1) return InvalidModel("axis ", axis, " holds real and imaginary parts");
  return a;
}

bool Real(const DFT& op) { return op.inverse && op.onesided; }

// Returns the length of the transform if the input `length` is absent.
Dim DefaultLength(const DFT& op, const Dim& dim) { return Real(op) ? Dim(2) * (dim - 1) : dim; }

Dim OutLength(const DFT& op, const Dim& length) {
  return op.onesided && !op.inverse ? FloorDiv(length, 2) + Dim(1) : length;
}

Status Infer(const DFT& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), Shape());
  if (!x.ranked) return {};
  if (x.rank() < 2 || (x[-1].known() && !x[-1].Is(1) && !x[-1].Is(2)))
    return InvalidModel("x must end in a dimension of 1 (real) or 2 (complex), got ", x.ToString());
  std::vector<Dim> dims(x.dims.size());
  const auto axis = c.LongsOf("axis");
  if (axis && axis->size() != 1) return InvalidModel("axis must have one element, got ", axis->size());
  if (axis || !c.Has("axis")) {
    TERN_ASSIGN(const int a, AxisOf(axis ? (*axis)[0] : -2, x.rank()));
    dims = x.dims;
    Dim length = DefaultLength(op, x[a]);
    if (c.Has("length")) {
      const auto given = c.ContentOf("length");
      length = given && given->size() == 1 ? (*given)[0] : Dim();
    }
    if (length.known() && length.value() < 1)
      return InvalidModel("a transform cannot have length ", length.value());
    dims[static_cast<size_t>(a)] = OutLength(op, length);
  }
  dims.back() = Real(op) ? 1 : 2;
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

using Complex = std::complex<double>;

// Completes a one-sided spectrum: the second half is the mirrored conjugate of the first half. The first and,
// for even lengths, the middle frequency are real.
void Complete(std::vector<Complex>& x) {
  const size_t n = x.size();
  x[0] = x[0].real();
  if (n % 2 == 0) x[n / 2] = x[n / 2].real();
  for (size_t k = n / 2 + 1; k < n; ++k) x[k] = std::conj(x[n - k]);
}

Status Reference(const DFT& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, AxisOf(c.Has("axis") ? c.Longs("axis").at(0) : -2, x.rank()));
  const int64_t given = x.dim(axis), parts = x.dim(-1);
  const int64_t length = c.Has("length") ? c.Longs("length").at(0) : DefaultLength(op, given).value();
  Dims dims = x.dims();
  dims[static_cast<size_t>(axis)] = OutLength(op, length).value();
  dims.back() = Real(op) ? 1 : 2;
  Tensor& y = c.Out("y", dims);
  const int64_t out = dims[static_cast<size_t>(axis)];
  const int64_t input_count = std::min(given, Real(op) ? length / 2 + 1 : length);
  const int64_t inner = CountBetween(x.dims(), axis + 1, x.rank() - 1),
                outer = CountBetween(x.dims(), 0, axis);
  const double scale = op.inverse ? 1 / static_cast<double>(length) : 1;
  for (int64_t row = 0; row < outer * inner; ++row) {
    const int64_t o = row / inner, i = row % inner;
    std::vector<Complex> signal(static_cast<size_t>(length));
    for (int64_t k = 0; k < input_count; ++k) {
      const int64_t at = ((o * given + k) * inner + i) * parts;
      signal[static_cast<size_t>(k)] = {LoadDouble(x, at), parts == 2 ? LoadDouble(x, at + 1) : 0};
    }
    if (Real(op)) Complete(signal);
    Fourier(signal, op.inverse);
    for (int64_t k = 0; k < out; ++k) {
      const int64_t at = ((o * out + k) * inner + i) * dims.back();
      const Complex v = signal[static_cast<size_t>(k)] * scale;
      StoreDouble(y, at, v.real());
      if (!Real(op)) StoreDouble(y, at + 1, v.imag());
    }
  }
  return {};
}

}  // namespace

TERN_OP(DFT) {
  return OpDef::Of<DFT>(
             "the Fourier transform along axis, truncated or zero-padded to length; the last dim is [re] or [re, im]")
      .In("x", kFloats)
      .OptSetting("length", kIndices)
      .OptSetting("axis", kIndices)
      .Out("y", kFloats)
      .Flops(No{"depends on the factors of the length"})
      .Batch(No{"the axis is an input"})
      .Axes(No{"the last axis holds real and imaginary parts"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
