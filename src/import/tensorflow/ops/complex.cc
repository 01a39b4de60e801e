// Converts Fourier transforms and operators on complex numbers. A complex tensor is a real tensor with an
// additional last axis of size 2: the real and the imaginary part.
#include <cmath>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

Value* ComplexPart(TfNode& n, Value* x, double i) {
  return n.Op("Gather", {x, n.b.Scalar(DType::kI64, i)}, {{"axis", -1}});
}

Status JoinParts(TfNode& n) {
  Value *re = n.In(0), *im = n.In(1);
  // The parts may have different shapes.
  if (!(re->type.shape == im->type.shape)) {
    Value* zero = n.Like(re, 0);
    Value *full_re = n.Binary("add", re, n.Binary("mul", im, zero)),
          *full_im = n.Binary("add", im, n.Binary("mul", re, zero));
    re = full_re;
    im = full_im;
  }
  n.Out(0, Edge::Complex(n.Concat({n.Unsqueeze(re, {-1}), n.Unsqueeze(im, {-1})}, -1)));
  return {};
}

Status NeedComplex(TfNode& n) { return n.IsComplex(0) ? Status() : n.Bad("the input is not complex"); }

Status Real(TfNode& n) {
  n.Out(0, n.IsComplex(0) ? ComplexPart(n, n.In(0), 0) : n.In(0));
  return {};
}

Status Imag(TfNode& n) {
  TERN_TRY(NeedComplex(n));
  n.Out(0, ComplexPart(n, n.In(0), 1));
  return {};
}

Status Conj(TfNode& n) {
  if (!n.IsComplex(0)) {
    n.Out(0, n.At(0));
    return {};
  }
  Value* x = n.In(0);
  n.Out(0, Edge::Complex(n.Binary("mul", x, n.b.Const(n.Numbers(x->type.dtype, {2}, {1, -1})))));
  return {};
}

Status Abs(TfNode& n) {
  TERN_TRY(NeedComplex(n));
  n.Out(0, n.Op("Reduce", {n.In(0), n.b.Ints({-1})}, {{"kind", "l2"}, {"keep_dims", false}}));
  return {};
}

Status Angle(TfNode& n) {
  TERN_TRY(NeedComplex(n));
  Value *x = ComplexPart(n, n.In(0), 0), *y = ComplexPart(n, n.In(0), 1), *zero = n.Like(x, 0);
  const auto where = [&](Value* c, Value* a, Value* z) { return n.Op("Where", {c, a, z}); };
  Value* negative = n.Binary("less", y, zero);
  Value* on_axis =
      where(n.Binary("equal", y, zero), zero, where(negative, n.Like(x, -M_PI / 2), n.Like(x, M_PI / 2)));
  Value* turn = where(n.Binary("less", x, zero), where(negative, n.Like(x, -M_PI), n.Like(x, M_PI)), zero);
  Value* angle = n.Binary("add", n.Unary("atan", n.Binary("div", y, x)), turn);
  n.Out(0, where(n.Binary("equal", x, zero), on_axis, angle));
  return {};
}

// Transforms the last `axes` axes of a tensor of complex numbers.
Status Fft(TfNode& n, int axes, bool inverse) {
  TERN_TRY(NeedComplex(n));
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank < axes + 1) return n.Bad("the input has too few axes");
  for (int64_t i = 0; i < axes; ++i)
    x = n.Op("DFT", {x, nullptr, n.b.Scalar(DType::kI64, static_cast<double>(rank - 2 - i))},
             {{"inverse", inverse}});
  n.Out(0, Edge::Complex(x));
  return {};
}

// Transforms a real signal, which is cropped or padded with zeros to fft_length. The last axis keeps half of
// the spectrum.
Status Rfft(TfNode& n, int axes) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank < axes) return n.Bad("the input has too few axes");
  Value* length = n.Cast(n.In(1), DType::kI64);
  const auto size = [&](int64_t i) {
    return n.Op("Gather", {length, n.b.Scalar(DType::kI64, static_cast<double>(i))}, {{"axis", 0}});
  };
  x = n.Op("DFT", {n.Unsqueeze(x, {-1}), size(axes - 1), n.b.Scalar(DType::kI64, rank - 1)},
           {{"onesided", true}});
  for (int64_t i = 1; i < axes; ++i)
    x = n.Op("DFT", {x, size(axes - 1 - i), n.b.Scalar(DType::kI64, static_cast<double>(rank - 1 - i))});
  n.Out(0, Edge::Complex(x));
  return {};
}

// Completes the spectrum by symmetry (element -k is the conjugate of element k) and transforms it back.
Status Irfft(TfNode& n, int axes) {
  TERN_TRY(NeedComplex(n));
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));  // with the axis of the parts
  if (rank < axes + 1) return n.Bad("the input has too few axes");
  TERN_ASSIGN(const auto lengths, n.Longs(1, "fft_length"));
  if (static_cast<int>(lengths.size()) != axes) return n.Bad("fft_length has ", lengths.size(), " entries");
  const int64_t last = rank - 2, length = lengths.back();
  if (length < 1 || length > (1 << 24)) return n.Bad("fft_length is ", length);
  for (int64_t i = 1; i < axes; ++i) {
    Value* size = n.b.Scalar(DType::kI64, static_cast<double>(lengths[static_cast<size_t>(axes - 1 - i)]));
    x = n.Op("DFT", {x, size, n.b.Scalar(DType::kI64, static_cast<double>(last - i))}, {{"inverse", true}});
  }
  const int64_t half = length / 2 + 1;
  // Crops or pads the spectrum to `half` elements.
  Value* missing = n.Binary("sub", n.b.Ints({half}), n.DimOf(x, last));
  x = n.Op("Pad", {x, n.Concat({n.b.Ints({0}), missing}, 0), nullptr, n.b.Ints({last})});
  const int64_t mirrored = length - half;
  std::vector<Value*> parts = {x};
  if (mirrored > 0) {
    Value* back = n.Op("Slice", {x, n.b.Ints({mirrored}), n.b.Ints({0}), n.b.Ints({last}), n.b.Ints({-1})});
    parts.push_back(n.Binary("mul", back, n.b.Const(n.Numbers(x->type.dtype, {2}, {1, -1}))));
  }
  Value* full = parts.size() == 1 ? x : n.Concat(parts, last);
  n.Out(0, ComplexPart(n,
                       n.Op("DFT", {full, nullptr, n.b.Scalar(DType::kI64, static_cast<double>(last))},
                            {{"inverse", true}}),
                       0));
  return {};
}

}  // namespace

TERN_CONVERTERS(complex) {
  table.Add("Complex", JoinParts);
  table.Add("Real", Real);
  table.Add("Imag", Imag);
  table.Add("Conj", Conj);
  table.Add("ComplexAbs", Abs);
  table.Add("Angle", Angle);
  static const std::pair<const char*, int> kAxes[] = {{"", 1}, {"2D", 2}, {"3D", 3}};
  for (const auto& [tail, axes] : kAxes) {
    table.Add(StrCat("FFT", tail).c_str(), [axes = axes](TfNode& n) { return Fft(n, axes, false); });
    table.Add(StrCat("IFFT", tail).c_str(), [axes = axes](TfNode& n) { return Fft(n, axes, true); });
    table.Add(StrCat("RFFT", tail).c_str(), [axes = axes](TfNode& n) { return Rfft(n, axes); });
    table.Add(StrCat("IRFFT", tail).c_str(), [axes = axes](TfNode& n) { return Irfft(n, axes); });
  }
}

}  // namespace tern::tensorflow
