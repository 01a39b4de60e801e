// Random: a tensor of random numbers.
#include <cmath>
#include <random>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

enum class Kind { kUniform, kNormal };

struct Random {
  Kind kind = Kind::kUniform;
  DType dtype = DType::kF32;
  float a = 0, b = 1;
  bool seeded = false;
  float seed = 0;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"uniform", "normal"}, "the distribution");
    v("dtype", dtype, "the type of y");
    v("a", a, "uniform: lower bound; normal: mean");
    v("b", b, "uniform: upper bound, exclusive; normal: standard deviation");
    v("seeded", seeded, "every run returns the same numbers, which depend on `seed`");
    v("seed", seed, "used if `seeded` is true");
  }
};

Status Infer(const Random& op, InferContext& c) {
  if (!IsFloat(op.dtype)) return InvalidModel("dtype must be float, got ", DTypeName(op.dtype));
  const Shape& s = c.ShapeOf("shape");
  Shape y;
  if (auto dims = c.ContentOf("shape")) {
    for (const Dim& d : *dims)
      if (d.known() && d.value() < 0)
        return InvalidModel("shape ", Shape(*dims).ToString(), " has a negative size");
    y = Shape(std::move(*dims));
  } else if (s.rank() == 1 && s[0].known()) {
    y = Shape(std::vector<Dim>(static_cast<size_t>(s[0].value())));
  }
  c.Out("y", op.dtype, std::move(y));
  return {};
}

// Reproduces numpy's RandomState exactly, because the test vectors of seeded operators come from RandomState.
class Source {
 public:
  explicit Source(uint32_t seed) : engine_(seed) {}

  double Uniform() {
    const uint32_t high = static_cast<uint32_t>(engine_()) >> 5, low = static_cast<uint32_t>(engine_()) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

  // Uses Marsaglia's polar method, which produces two numbers. `spare_` is the second one.
  double Normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, r;
    do {
      x = 2 * Uniform() - 1;
      y = 2 * Uniform() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    const double f = std::sqrt(-2 * std::log(r) / r);
    spare_ = f * x;
    has_spare_ = true;
    return f * y;
  }

 private:
  std::mt19937 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

uint32_t SeedOf(const Random& op) {
  if (!op.seeded) return std::random_device()();
  return std::fabs(op.seed) < 0x1p62f ? static_cast<uint32_t>(static_cast<int64_t>(op.seed)) : 0;
}

Status Reference(const Random& op, EvalContext& c) {
  const Dims dims = c.Longs("shape");
  for (int64_t d : dims)
    if (d < 0) return InvalidArgument("shape [", Join(dims, ","), "] has a negative size");
  Tensor& y = c.Out("y", dims);
  Source source(SeedOf(op));
  const double a = op.a, b = op.b;
  for (int64_t i = 0; i < y.size(); ++i)
    StoreDouble(y, i, op.kind == Kind::kUniform ? a + (b - a) * source.Uniform() : a + b * source.Normal());
  return {};
}

}  // namespace

TERN_OP(Random) {
  return OpDef::Of<Random>("random numbers of the given shape")
      .Setting("shape", kIndices)
      .Out("y", kFloats)
      .Traits(kRandom)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
