// MelWeightMatrix: triangular filters that map a spectrum to bands of the mel scale.
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct MelWeightMatrix {
  DType dtype = DType::kF32;
  template <class V> void Visit(V& v) { v("dtype", dtype, "the output's type"); }
};

Dim ScalarOf(const InferContext& c, std::string_view port) {
  const auto content = c.ContentOf(port);
  return content && content->size() == 1 ? (*content)[0] : Dim();
}

Status Infer(const MelWeightMatrix& op, InferContext& c) {
  if (!IsNumeric(op.dtype)) return InvalidModel("cannot create weights of type ", DTypeName(op.dtype));
  const Dim bands = ScalarOf(c, "bands"), length = ScalarOf(c, "dft_length"),
            rate = ScalarOf(c, "sample_rate");
  if (bands.known() && bands.value() < 0)
    return InvalidModel("bands is ", bands.value(), ", but must not be negative");
  if (length.known() && (length.value() < 0 || length.value() > INT32_MAX))
    return InvalidModel("dft_length is ", length.value(), ", but must be from 0 to ", INT32_MAX);
  if (rate.known() && rate.value() < 1)
    return InvalidModel("sample_rate is ", rate.value(), ", but must be at least 1");
  c.Out("y", op.dtype, Shape({FloorDiv(length, 2) + Dim(1), bands}));
  return {};
}

// Returns the corners of the triangles as bins of the spectrum. Triangle i starts at corner i, peaks at
// corner i + 1 and ends at corner i + 2.
Result<std::vector<int64_t>> Corners(const EvalContext& c, int64_t bands, int64_t bins) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(LoadDouble(c.In("lower"), 0)), high = mel(LoadDouble(c.In("upper"), 0));
  const double length = LoadDouble(c.In("dft_length"), 0), rate = LoadDouble(c.In("sample_rate"), 0);
  const double step = (high - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin = std::floor((length + 1) * hertz / rate);
    if (!(bin >= 0 && bin < static_cast<double>(bins)))
      return InvalidArgument("band edge ", i, " at ", hertz, " Hz is outside a spectrum of ", bins, " bins");
    corners.push_back(static_cast<int64_t>(bin));
  }
  return corners;
}

Status Reference(const MelWeightMatrix&, EvalContext& c) {
  const int64_t bands = c.Longs("bands").at(0), bins = c.Longs("dft_length").at(0) / 2 + 1;
  Tensor& y = c.Out("y", {bins, bands});
  TERN_ASSIGN(const auto corners, Corners(c, bands, bins));
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t left = corners[static_cast<size_t>(i)], peak = corners[static_cast<size_t>(i) + 1],
                  right = corners[static_cast<size_t>(i) + 2];
    const auto ratio = [](int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); };
    if (left == peak) StoreDouble(y, peak * bands + i, 1);
    for (int64_t j = left; left < peak && j <= peak; ++j)
      StoreDouble(y, j * bands + i, ratio(j - left, peak - left));
    for (int64_t j = peak; j < right; ++j) StoreDouble(y, j * bands + i, ratio(right - j, right - peak));
  }
  return {};
}

}  // namespace

TERN_OP(MelWeightMatrix) {
  return OpDef::Of<MelWeightMatrix>("[dft_length/2 + 1, bands] weights: one triangular mel filter per band")
      .Setting("bands", kIndices)
      .Setting("dft_length", kIndices)
      .Setting("sample_rate", kIndices)
      .Setting("lower", kFloats)
      .Setting("upper", kFloats)
      .Out("y", kNumbers)
      .Flops(No{"the result is a small table"})
      .Batch(No{"no input has items"})
      .Axes(No{"rows and columns differ in meaning"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
