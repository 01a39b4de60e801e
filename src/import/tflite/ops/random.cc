// Converts random numbers. They have the same distribution as in TensorFlow Lite, but other values.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

Value* Numbers(LiteNode& n, Value* shape, const char* kind) {
  const auto& o = n.Options<fb::RandomOptions>();
  const bool seeded = o.seed() != 0 || o.seed2() != 0;
  const uint64_t mixed = static_cast<uint64_t>(o.seed()) * 31 + static_cast<uint64_t>(o.seed2());
  const double seed = static_cast<double>(static_cast<float>(static_cast<int64_t>(mixed)));
  return n.b.Op("Random", {shape}, {{"kind", kind}, {"seeded", seeded}, {"seed", seeded ? seed : 0.0}});
}

std::function<Status(LiteNode&)> RandomOf(const char* kind) {
  return [kind](LiteNode& n) -> Status {
    n.Out(0, Numbers(n, Longs64(n.b, n.In(0)), kind));
    return {};
  };
}

// Uses the Gumbel-max trick. Adds the noise -log(-log(u)) to each logit. The class with the largest sum is a
// sample of the distribution.
Status Multinomial(LiteNode& n) {
  Builder& b = n.b;
  Value* logits = n.In(0);
  if (n.RankOf(0) != 2) return n.Bad("the logits must have 2 dims");
  Value* count = Reshaped(b, Longs64(b, n.In(1)), {1});
  Value* u = Numbers(n, Joined(b, {DimOf(b, logits, 0), count, DimOf(b, logits, 1)}, 0), "uniform");
  u = Binary(b, "max", u, b.Scalar(DType::kF32, 1e-30));
  Value* noise = Unary(b, "neg", Unary(b, "log", Unary(b, "neg", Unary(b, "log", u))));
  Value* sums = Binary(b, "add", Unsqueezed(b, logits, {1}), noise);
  n.Out(0, b.Op("ArgReduce", {sums}, {{"kind", "max"}, {"axis", int64_t{2}}, {"keep_dims", false}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(random) {
  table.Add("RANDOM_UNIFORM", 1, RandomOf("uniform"));
  table.Add("RANDOM_STANDARD_NORMAL", 1, RandomOf("normal"));
  table.Add("MULTINOMIAL", 2, Multinomial);
}

}  // namespace tern::tflite
