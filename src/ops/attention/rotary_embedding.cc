// RotaryEmbedding: rotates pairs of features by angles that depend on the position.
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/attention/heads.h"

namespace tern {
namespace {

struct RotaryEmbedding {
  bool interleaved = false;
  int64_t size = 0, heads = 0;
  template <class V> void Visit(V& v) {
    v("interleaved", interleaved, "features 2*i and 2*i + 1 are a pair; otherwise features i and i + size/2");
    v("size", size, "number of leading features of a head that are rotated; 0 means all");
    v("heads", heads,
      "number of heads of x; 0 means dim 1 of x, and requires that x is [batch, heads, length, size]");
  }
};

Status CheckRotated(const RotaryEmbedding& op, int64_t width) {
  const int64_t rotated = op.size ? op.size : width;
  if (rotated >= 0 && rotated % 2 == 0 && rotated <= width) return {};
  return InvalidModel("cannot rotate ", rotated, " of ", width,
                      " features: the number must be even and from 0 to ", width);
}

// Checks the shape of input `port`, which is cos or sin. The shape must be [max, half], with a row per
// position, if the node has the input `positions`. Otherwise it must be [batch or 1, length, half].
Status CheckAngles(const InferContext& c, const char* port, const Shape& x, const Dim& half) {
  const Shape& angles = c.ShapeOf(port);
  if (!angles.ranked) return {};
  const bool cached = c.Has("positions");
  if (angles.rank() != (cached ? 2 : 3))
    return InvalidModel("input '", port, "' must be ", cached ? "[max, size/2]" : "[batch, length, size/2]",
                        ", got ", c.In(port).ToString());
  const bool fits = cached || ((angles[0].Is(1) || !Differ(angles[0], x[0])) && !Differ(angles[1], x[2]));
  if (fits && !Differ(angles[-1], half)) return {};
  return InvalidModel("input '", port, "' ", c.In(port).ToString(), " does not match x ",
                      c.In("x").ToString());
}

Status CheckPositions(const InferContext& c, const Shape& x) {
  const Shape& p = c.ShapeOf("positions");
  if (!c.Has("positions") || !p.ranked) return {};
  if (p.rank() == 2 && (p[0].Is(1) || !Differ(p[0], x[0])) && !Differ(p[1], x[2])) return {};
  return InvalidModel("input 'positions' must be [batch, length], got ", c.In("positions").ToString(),
                      " for x ", c.In("x").ToString());
}

Status Infer(const RotaryEmbedding& op, InferContext& c) {
  TERN_ASSIGN(const Shape x, SplitShape(c, "x", op.heads));
  if (x[3].known()) TERN_TRY(CheckRotated(op, x[3].value()));
  const Dim half = op.size ? Dim(op.size / 2) : x[3].known() ? Dim(x[3].value() / 2) : Dim::Unknown();
  for (const char* port : {"cos", "sin"}) TERN_TRY(CheckAngles(c, port, x, half));
  TERN_TRY(CheckPositions(c, x));
  c.Out("y", c.In("x"));
  return {};
}

// Maps token t of batch item b to its row of cos and sin.
class RotaryRows {
 public:
  static Result<RotaryRows> Of(EvalContext& c, const Dims& x, int64_t half) {
    RotaryRows r;
    const Dims& angles = c.In("cos").dims();
    const bool cached = c.Has("positions");
    const Dims& by_row = cached ? c.In("positions").dims() : angles;
    const size_t rank = cached ? 2 : 3;
    if (c.In("sin").dims() != angles || angles.size() != rank || angles.back() != half ||
        by_row.size() != rank || (by_row[0] != x[0] && by_row[0] != 1) || by_row[1] != x[2])
      return InvalidArgument("cos ", c.In("cos").Describe(), " and sin ", c.In("sin").Describe(),
                             " do not match [", Join(x, ","), "]");
    r.length_ = x[2], r.shared_ = by_row[0] == 1;
    if (!cached) return r;
    r.positions_ = c.Longs("positions");
    for (int64_t p : r.positions_)
      if (p < 0 || p >= angles[0])
        return InvalidArgument("position ", p, " is outside [0, ", angles[0], "), the rows of cos and sin");
    return r;
  }
  int64_t At(int64_t b, int64_t t) const {
    const int64_t i = (shared_ ? 0 : b * length_) + t;
    return positions_.empty() ? i : positions_[static_cast<size_t>(i)];
  }

 private:
  int64_t length_ = 0;
  bool shared_ = false;
  std::vector<int64_t> positions_;
};

Status Reference(const RotaryEmbedding& op, EvalContext& c) {
  TERN_ASSIGN(const Dims dims, SplitDims("x", c.In("x").dims(), op.heads));
  TERN_TRY(CheckRotated(op, dims[3]));
  auto x = c.Doubles("x");
  const auto cosines = c.Doubles("cos"), sines = c.Doubles("sin");
  const int64_t heads = dims[1], length = dims[2], width = dims[3], half = (op.size ? op.size : width) / 2;
  TERN_ASSIGN(const RotaryRows rows, RotaryRows::Of(c, dims, half));
  const bool packed = c.In("x").rank() == 3;
  for (int64_t row = 0; row < dims[0] * heads * length; ++row) {
    const int64_t b = row / (heads * length), t = packed ? row / heads % length : row % length;
    const auto at = static_cast<size_t>(rows.At(b, t) * half);
    double* v = x.data() + row * width;
    for (int64_t i = 0; i < half; ++i) {
      const double cosine = cosines[at + static_cast<size_t>(i)], sine = sines[at + static_cast<size_t>(i)];
      double& a = v[op.interleaved ? 2 * i : i];
      double& z = v[op.interleaved ? 2 * i + 1 : i + half];
      const double real = cosine * a - sine * z, imaginary = sine * a + cosine * z;
      a = real;
      z = imaginary;
    }
  }
  c.Out("y", c.In("x").dims(), x);
  return {};
}

}  // namespace

TERN_OP(RotaryEmbedding) {
  return OpDef::Of<RotaryEmbedding>(
             "rotates pairs of features of x; cos and sin have the angles of each token, or of each position if "
             "positions is present")
      .In("x", kFloats)
      .In("cos", kFloats)
      .In("sin", kFloats)
      .OptSetting("positions", kIndices)
      .Out("y", kFloats)
      .Traits(kPure | kInPlace)
      .Flops(PerOutput(3))
      .Batch(No{"angles may be shared by all items"})
      .Axes(No{"the order of batch, heads, length and size is fixed"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
