// Converts the Fourier transform. A complex tensor has an additional last axis of size 2, with the real and
// the imaginary part.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

Status Rfft2d(LiteNode& n) {
  Builder& b = n.b;
  const auto length = n.Longs(1);
  if (!length || length->size() != 2) return n.NotYet("lengths that are not constant");
  if (n.RankOf(0) < 2) return n.Bad("the input must have at least 2 dims");
  const auto transform = [&](Value* x, int64_t size, int64_t axis, bool onesided) {
    return b.Op("DFT",
                {x, b.Scalar(DType::kI64, static_cast<double>(size)),
                 b.Scalar(DType::kI64, static_cast<double>(axis))},
                {{"onesided", onesided}});
  };
  const int64_t rank = n.RankOf(0);
  Value* rows = transform(Unsqueezed(b, n.In(0), {-1}), (*length)[1], rank - 1, true);
  n.Out(0, transform(rows, (*length)[0], rank - 2, false));
  return {};
}

std::function<Status(LiteNode&)> Part(double part) {
  return [part](LiteNode& n) -> Status {
    n.Out(0, n.b.Op("Gather", {n.In(0), n.b.Scalar(DType::kI64, part)}, {{"axis", int64_t{-1}}}));
    return {};
  };
}

Status ComplexAbs(LiteNode& n) {
  n.Out(0, Reduced(n.b, "l2", n.In(0), {-1}, false));
  return {};
}

}  // namespace

TERN_CONVERTERS(signal) {
  table.Add("RFFT2D", 2, Rfft2d);
  table.Add("REAL", 1, Part(0));
  table.Add("IMAG", 1, Part(1));
  table.Add("COMPLEX_ABS", 1, ComplexAbs);
}

}  // namespace tern::tflite
