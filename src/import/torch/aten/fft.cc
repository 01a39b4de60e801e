// Fourier transforms.
#include <algorithm>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

bool IsComplexVar(AtenNode& n) { return n.Var("self") && n.Var("self")->complex; }

// Returns the tensor with a last dim for the parts. For a real tensor this dim has size 1, which Tern's DFT
// accepts.
Value* Pairs(AtenNode& n) {
  Value* x = InFloat(n, "self");
  return IsComplexVar(n) ? x : Emit(n.b).Unsqueeze(x, {-1});
}

int RankOf(AtenNode& n) {
  const int rank = n.RankOf("self");
  return IsComplexVar(n) && rank > 0 ? rank - 1 : rank;
}

// The divisor of a transform. It is 1, the square root of the number of elements, or that number.
enum class FftNorm { kNone, kRoot, kCount };

FftNorm NormOf(AtenNode& n, bool forward) {
  const std::string norm = n.Text("norm", "backward");
  if (norm == "ortho") return FftNorm::kRoot;
  return (norm == "forward") == forward ? FftNorm::kCount : FftNorm::kNone;
}

// The internal operators have a number as the argument for the norm.
FftNorm InternalNorm(AtenNode& n) {
  const int64_t mode = n.Int("normalization");
  return mode == 0 ? FftNorm::kNone : mode == 1 ? FftNorm::kRoot : FftNorm::kCount;
}

Value* Divided(AtenNode& n, Value* y, Value* count, FftNorm norm) {
  Emit e(n.b);
  if (norm == FftNorm::kNone) return y;
  return e.Div(y, norm == FftNorm::kRoot ? e.Unary("sqrt", count) : count);
}

struct Transform {
  bool forward = true;
  bool onesided = false;
};

// Emits the transform along axes, without a factor. Tern divides an inverse transform by the length.
Value* Spectrum(AtenNode& n, Value* x, const std::vector<int64_t>& axes, const Transform& t) {
  Emit e(n.b);
  Value* count = t.forward ? nullptr : CountOf(n.b, x, axes);
  for (size_t i = 0; i < axes.size(); ++i)
    x = n.b.Op("DFT", {x, nullptr, e.Long(axes[i])},
               {{"inverse", !t.forward}, {"onesided", t.onesided && i == 0}});
  return count ? e.Mul(x, count) : x;
}

void OutSpectrum(AtenNode& n, Value* x) {
  n.Out(x);
  n.results().back().tensor->complex = true;
}

// Returns the axes of the transform. These are the dims of the call, or all axes if the call has no dims.
std::vector<int64_t> AxesOf(AtenNode& n, const char* name, bool all) {
  const int rank = RankOf(n);
  std::vector<int64_t> axes;
  const Arg& dim = n.Get(name);
  if (dim.list() || dim.number())
    for (const int64_t d : n.Ints(name)) axes.push_back(Axis(n, d, rank));
  else if (all)
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Status Named(AtenNode& n, bool forward, bool onesided, const char* sizes) {
  if (n.Has(sizes)) return n.NotYet("a transform to another size");
  std::vector<int64_t> axes = AxesOf(n, "dim", true);
  if (onesided && IsComplexVar(n)) return n.Bad("a real transform of a complex tensor");
  if (onesided) std::reverse(axes.begin(), axes.end());  // the last axis becomes half as long
  Value* x = Pairs(n);
  Value* y = Spectrum(n, x, axes, {forward, onesided});
  OutSpectrum(n, Divided(n, y, CountOf(n.b, x, axes), NormOf(n, forward)));
  return {};
}

Status ComplexToComplex(AtenNode& n) {
  const std::vector<int64_t> axes = AxesOf(n, "dim", false);
  Value* x = Pairs(n);
  Value* y = Spectrum(n, x, axes, {n.Bool("forward"), false});
  OutSpectrum(n, Divided(n, y, CountOf(n.b, x, axes), InternalNorm(n)));
  return {};
}

Status RealToComplex(AtenNode& n) {
  std::vector<int64_t> axes = AxesOf(n, "dim", false);
  std::reverse(axes.begin(), axes.end());
  Value* x = Pairs(n);
  Value* y = Spectrum(n, x, axes, {true, n.Bool("onesided")});
  OutSpectrum(n, Divided(n, y, CountOf(n.b, x, axes), InternalNorm(n)));
  return {};
}

// Emits the inverse transform of a one-sided spectrum. The missing frequencies are the conjugates of the
// present ones.
Result<Value*> Real(AtenNode& n, Value* x, int64_t axis, int64_t length) {
  Emit e(n.b);
  const Arg present = SizeOf(n.b, x, axis);
  if (length < 1 || (present.known() && length / 2 + 1 > present.integer))
    return n.NotYet("an inverse transform to ", length, " elements");
  Value* kept = e.Slice(x, axis, 0, length / 2 + 1);
  const int64_t mirrored = length - (length / 2 + 1);
  if (mirrored > 0) {
    Value* part =
        n.b.Op("Slice", {kept, n.b.Ints({mirrored}), n.b.Ints({0}), n.b.Ints({axis}), n.b.Ints({-1})});
    Value* sign = n.b.Const(import::Numbers(n.b, x->type.dtype, {2}, {1, -1}));
    kept = e.Concat({kept, e.Mul(part, sign)}, axis);
  }
  Value* y = n.b.Op("DFT", {kept, nullptr, e.Long(axis)}, {{"inverse", true}});
  return n.b.Op("Gather", {y, e.Long(0)}, {{"axis", int64_t{-1}}});
}

Status ComplexToReal(AtenNode& n) {
  std::vector<int64_t> axes = AxesOf(n, "dim", false);
  if (axes.empty()) return n.Bad("no dims");
  const int64_t last = axes.back(), length = n.Int("last_dim_size");
  axes.pop_back();
  Value* pairs = Pairs(n);
  Value* x = axes.empty() ? pairs : Spectrum(n, pairs, axes, {false, false});
  TERN_ASSIGN(Value * y, Real(n, x, last, length));
  Emit e(n.b);
  Value* own = e.Like(pairs, static_cast<double>(length));
  Value* count = axes.empty() ? own : e.Mul(CountOf(n.b, pairs, axes), own);
  n.Out(Divided(n, e.Mul(y, own), count, InternalNorm(n)));
  return {};
}

Status InverseReal(AtenNode& n) {
  const int64_t axis = Axis(n, n.Int("dim", -1), RankOf(n));
  Value* x = Pairs(n);
  const Arg present = SizeOf(n.b, x, axis);
  if (!present.known() && !n.Has("n")) return n.NotYet("an inverse transform of a dim of unknown size");
  if (present.known() && present.integer > INT32_MAX) return n.NotYet("a dim of size ", present.integer);
  const int64_t length = n.Int("n", 2 * (present.integer - 1));
  TERN_ASSIGN(Value * y, Real(n, x, axis, length));
  Emit e(n.b);
  Value* count = e.Like(x, static_cast<double>(length));
  n.Out(Divided(n, e.Mul(y, count), count, NormOf(n, false)));
  return {};
}

}  // namespace

TERN_CONVERTERS(fft) {
  table.Add("aten::fft_fft", [](AtenNode& n) { return Named(n, true, false, "n"); });
  table.Add("aten::fft_ifft", [](AtenNode& n) { return Named(n, false, false, "n"); });
  table.Add("aten::fft_rfft", [](AtenNode& n) { return Named(n, true, true, "n"); });
  table.Add("aten::fft_irfft", InverseReal);
  table.Add("aten::fft_fft2", [](AtenNode& n) { return Named(n, true, false, "s"); });
  table.Add("aten::fft_ifft2", [](AtenNode& n) { return Named(n, false, false, "s"); });
  table.Add("aten::fft_fftn", [](AtenNode& n) { return Named(n, true, false, "s"); });
  table.Add("aten::fft_ifftn", [](AtenNode& n) { return Named(n, false, false, "s"); });
  table.Add("aten::fft_rfft2", [](AtenNode& n) { return Named(n, true, true, "s"); });
  table.Add("aten::fft_rfftn", [](AtenNode& n) { return Named(n, true, true, "s"); });
  table.Add("aten::_fft_c2c", ComplexToComplex);
  table.Add("aten::_fft_r2c", RealToComplex);
  table.Add("aten::_fft_c2r", ComplexToReal);
}

}  // namespace tern::torch
