// RotaryEmbedding: pairs of features turned by angles that depend on the position.
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct RotaryEmbedding {
  bool interleaved = false;
  int64_t size = 0;
  template <class V> void Visit(V& v) {
    v("interleaved", interleaved, "pairs are neighbours; otherwise feature i goes with i + size/2");
    v("size", size, "how many of the first features are turned; 0: all");
  }
};

Status Infer(const RotaryEmbedding&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() != 4)
    return InvalidModel("input 'x' must be [batch, heads, length, size], got ", c.In("x").ToString());
  c.Out("y", c.In("x"));
  return {};
}

// x [batch, heads, length, size]; cos, sin [batch, length, half] already taken at the positions.
Status Reference(const RotaryEmbedding& op, EvalContext& c) {
  auto x = c.Doubles("x");
  const auto cosines = c.Doubles("cos"), sines = c.Doubles("sin");
  const Dims dims = c.In("x").dims(), angles = c.In("cos").dims();
  const int64_t width = dims[3], turned = op.size ? op.size : width, half = turned / 2, length = dims[2];
  if (turned % 2 || turned > width)
    return InvalidArgument("cannot turn ", turned, " of ", width, " features");
  const bool fits = angles.size() == 3 && (angles[0] == dims[0] || angles[0] == 1) && angles[1] == length &&
                    angles[2] == half;
  if (!fits || c.In("sin").dims() != angles)
    return InvalidArgument("cos and sin must be [", dims[0], ",", length, ",", half, "], got ",
                           c.In("cos").Describe(), " and ", c.In("sin").Describe());
  for (int64_t row = 0; row < dims[0] * dims[1] * length; ++row) {
    const int64_t b = angles[0] == 1 ? 0 : row / (dims[1] * length), t = row % length;
    double* v = x.data() + row * width;
    for (int64_t i = 0; i < half; ++i) {
      const double cosine = cosines[static_cast<size_t>((b * length + t) * half + i)],
                   sine = sines[static_cast<size_t>((b * length + t) * half + i)];
      double& a = v[op.interleaved ? 2 * i : i];
      double& z = v[op.interleaved ? 2 * i + 1 : i + half];
      const double real = cosine * a - sine * z, imaginary = sine * a + cosine * z;
      a = real;
      z = imaginary;
    }
  }
  c.Out("y", dims, x);
  return {};
}

}  // namespace

TERN_OP(RotaryEmbedding) {
  return OpDef::Of<RotaryEmbedding>(
             "pairs of features of x turned by the angles whose cosines and sines are given")
      .In("x", kFloats)
      .In("cos", kFloats)
      .In("sin", kFloats)
      .Out("y", kFloats)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
