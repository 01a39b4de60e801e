// Converts random numbers, Bernoulli, Multinomial and Dropout. The op Random gets the operator's seed, so an
// operator with a seed returns the same numbers in each run.
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

Value* RandomOf(OnnxNode& n, Value* shape, const char* kind, DType dtype, double a, double b) {
  AttrList attrs = {{"kind", kind}, {"dtype", dtype}, {"a", a}, {"b", b}};
  // The seed of Dropout is an integer. The seeds of the other operators are floats.
  if (n.HasAttr("seed")) {
    const double seed = n.op() == "Dropout" ? static_cast<double>(n.Int("seed")) : n.Float("seed");
    attrs.insert(attrs.end(), {{"seeded", true}, {"seed", seed}});
  }
  return n.b.Op("Random", {shape}, attrs);
}

Converter RandomOp(const char* kind, const char* first, const char* second, bool like) {
  return [=](OnnxNode& n) -> Status {
    TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype", like ? n.TypeOf(0) : DType::kF32));
    Value* shape = like ? n.b.Op("Shape", {n.In(0)}) : n.b.Ints(n.Ints("shape"));
    n.Out(0, RandomOf(n, shape, kind, dtype, n.Float(first, 0), n.Float(second, 1)));
    return {};
  };
}

// Emits u < p for a uniform random u in [0, 1). u is f64, because an f32 sample could be rounded to 1. For p
// = 1, the result would then be false.
Status Bernoulli(OnnxNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype", n.TypeOf(0)));
  Value* draw = RandomOf(n, n.b.Op("Shape", {n.In(0)}), "uniform", DType::kF64, 0, 1);
  Value* p = n.b.Op("Cast", {n.In(0)}, {{"to", DType::kF64}});
  n.Out(0, n.b.Op("Cast", {n.b.Op("Binary", {draw, p}, {{"kind", "less"}})}, {{"to", dtype}}));
  return {};
}

// Uses the Gumbel-max trick. Each class has a uniform random number u. The class with the largest logit -
// log(-log(u)) is a sample of the distribution that the logits describe.
Status Multinomial(OnnxNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype", DType::kI32));
  const int64_t samples = n.Int("sample_size", 1);
  if (samples < 0) return n.Bad("sample_size must be at least 0, got ", samples);
  Value* rows = n.b.Op("Shape", {n.In(0)}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  Value* classes = n.b.Op("Shape", {n.In(0)}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  Value* shape = n.b.Op("Concat", {rows, n.b.Ints({samples}), classes}, {{"axis", int64_t{0}}});
  Value* u = RandomOf(n, shape, "uniform", DType::kF64, 0, 1);
  const auto minus_log = [&](Value* x) {
    return n.b.Op("Unary", {n.b.Op("Unary", {x}, {{"kind", "log"}})}, {{"kind", "neg"}});
  };
  Value* noise = minus_log(minus_log(u));
  Value* logits = n.b.Op("Unsqueeze", {n.b.Op("Cast", {n.In(0)}, {{"to", DType::kF64}}), n.b.Ints({1})});
  Value* keys = n.b.Op("Binary", {logits, noise}, {{"kind", "add"}});
  Value* picked = n.b.Op("ArgReduce", {keys}, {{"kind", "max"}, {"axis", int64_t{-1}}, {"keep_dims", false}});
  n.Out(0, n.b.Op("Cast", {picked}, {{"to", dtype}}));
  return {};
}

bool TrainingOff(const OnnxNode& n) {
  if (n.opset < 12 || !n.Has(2)) return true;
  const Tensor* t = n.Constant(2);
  return t && t->size() == 1 && LoadLong(*t, 0) == 0;
}

// Emits Dropout for inference: y = x, and all elements of the mask are true.
Status InferenceDropout(OnnxNode& n) {
  n.Out(0, n.b.Op("Identity", {n.In(0)}));
  if (!n.Wants(1)) return {};
  TERN_TRY(Require(n, 0));
  const DType mask = n.opset < 10 ? n.TypeOf(0) : DType::kBool;
  n.Out(1, n.b.Op("Expand", {n.b.Scalar(mask, 1), n.b.Op("Shape", {n.In(0)})}));
  return {};
}

// In training, an element is kept with probability 1 - ratio and multiplied by 1 / (1 - ratio). Other
// elements become 0.
Status Dropout(OnnxNode& n) {
  if (TrainingOff(n)) return InferenceDropout(n);
  TERN_TRY(Require(n, 0));
  Value *x = n.In(0), *training = n.In(2);
  const DType t = n.TypeOf(0);
  const auto binary = [&](const char* kind, Value* a, Value* b) {
    return n.b.Op("Binary", {a, b}, {{"kind", kind}});
  };
  Value* ratio = n.Has(1) ? n.b.Op("Cast", {n.In(1)}, {{"to", DType::kF64}}) : n.b.Scalar(DType::kF64, 0.5);
  Value* draw = RandomOf(n, n.b.Op("Shape", {x}), "uniform", DType::kF64, 0, 1);
  Value* one = n.b.Scalar(DType::kF64, 1);
  Value* scale = n.b.Op("Cast", {binary("div", one, binary("sub", one, ratio))}, {{"to", t}});
  Value* off = n.b.Op("Unary", {training}, {{"kind", "not"}});
  Value* keep = binary("or", binary("greater_equal", draw, ratio), off);
  Value* dropped = n.b.Op("Where", {keep, binary("mul", x, scale), n.b.Scalar(t, 0)});
  n.Out(0, n.b.Op("Where", {training, dropped, x}));
  n.Out(1, keep);
  return {};
}

}  // namespace

TERN_CONVERTERS(random) {
  table.Add("RandomUniform", RandomOp("uniform", "low", "high", false));
  table.Add("RandomUniformLike", RandomOp("uniform", "low", "high", true));
  table.Add("RandomNormal", RandomOp("normal", "mean", "scale", false));
  table.Add("RandomNormalLike", RandomOp("normal", "mean", "scale", true));
  table.Add("Bernoulli", Bernoulli);
  table.Add("Multinomial", Multinomial);
  table.Add("Dropout", Dropout);
}

}  // namespace tern::onnx
