// Fuses Dequantize, a float op and Quantize into one quantized op.
#include <algorithm>
#include <cmath>

#include "ops/quant/quantized.h"
#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// The relative tolerance with which the scale of a bias must equal the product of the operands' scales. The
// exporter has rounded the product to f32.
constexpr double kScaleRounding = 1e-6;

bool IsProductOf(const Value* scale, const Value* a, const Value* b) {
  for (const Value* v : {scale, a, b})
    if (!v->is_constant() || v->constant.dtype() != DType::kF32) return false;
  const auto have = ToDoubles(scale->constant), first = ToDoubles(a->constant),
             second = ToDoubles(b->constant);
  if (first.size() != 1 || (have.size() != 1 && second.size() != 1 && have.size() != second.size()))
    return false;
  for (size_t i = 0; i < std::max(have.size(), second.size()); ++i) {
    const double want = first[0] * second[second.size() == 1 ? 0 : i];
    if (!(std::fabs(have[have.size() == 1 ? 0 : i] - want) <= kScaleRounding * std::fabs(want))) return false;
  }
  return true;
}

// Collects the inputs of the quantized op. When Operands or Bias returns false, `why` is the reason.
class InputCollector {
 public:
  InputCollector(const QuantizedForm& form, const Node& real) : form_(form), real_(real) {}

  bool Operands() {
    for (int i = 0; i < form_.operands; ++i) {
      const Node* d = PlainDequantize(real_.input(i));
      if (!d) return No("an operand is not made by Dequantize from 8 or 16 bits to f32");
      const auto axis = ScaleAxis(form_, real_.attrs, i);
      if (!OneScale(*d) && !(axis && Along(*d, *axis)))
        return No("the scales of an operand are along an axis that the quantized op does not support");
      inputs.insert(inputs.end(), {d->input(0), d->input(1), d->input(2)});
    }
    return true;
  }

  void Result(Rewrite& r) {
    const Node& q = r.root();
    const DType to = q.output(0)->type.dtype;
    inputs.push_back(q.input(1));
    const bool implied = q.input(2) || inputs[0]->type.dtype == to;
    inputs.push_back(implied ? q.input(2) : r.Const(Tensor(to, q.input(1)->type.shape.Concrete())));
  }

  bool Bias() {
    const Value* bias = real_.input(2);
    if (!bias) return true;
    const Node* d = MadeBy(bias, "Dequantize");
    if (!d || d->input(0)->type.dtype != DType::kI32 || bias->type.dtype != DType::kF32 ||
        d->attrs.Int("block_size") != 0)
      return No("the bias is not made by Dequantize from i32 to f32");
    if (d->input(0)->type.shape.rank() != 1) return No("the bias is not a vector");
    if (IsOp(real_, "MatMul") && !PerColumn(d->input(0)->type.shape[0]))
      return No("the bias does not have one element per column");
    if (d->input(2) && !AllZero(d->input(2))) return No("the bias has a zero point");
    if (!IsProductOf(d->input(1), inputs[1], inputs[4]))
      return No("the scale of the bias is not the product of the operands' scales");
    bias_ = d->input(0);
    return true;
  }

  std::vector<Value*> All() const {
    std::vector<Value*> all = inputs;
    if (bias_) all.push_back(bias_);
    return all;
  }

  std::vector<Value*> inputs;
  const char* why = "";

 private:
  bool No(const char* reason) {
    why = reason;
    return false;
  }
  bool PerColumn(const Dim& size) const {
    const Shape& y = real_.output(0)->type.shape;
    const Value* b = real_.input(1);
    return b->type.shape.rank() > 1 && y.rank() > 0 && y[-1] == size;
  }
  static bool Along(const Node& d, int64_t wanted) {
    const Value* x = d.input(0);
    const auto axis = AxisOf(d.attrs.Int("axis"), x), want = AxisOf(wanted, x);
    return x->type.shape.rank() > 1 && axis && want && *axis == *want && d.input(1)->type.shape.rank() == 1;
  }

  const QuantizedForm& form_;
  const Node& real_;
  Value* bias_ = nullptr;
};

// Copies the attributes of the float op to those of the quantized op. Skips an attribute that the quantized
// op does not have if its value is the default. Returns false if another attribute cannot be copied.
bool TakeAttrs(const Node& real, Attrs& attrs) {
  for (const Attrs::Entry& entry : real.attrs.List()) {
    if (!attrs.Has(entry.name) ? !entry.is_default : !attrs.Set(entry.name, entry.value).ok()) return false;
  }
  return true;
}

bool Fuse(Rewrite& r, const char* name) {
  const QuantizedForm& form = *QuantizedFormOf(name);
  const Node& q = r.root();
  const Node* real = MadeBy(q.input(0), form.real);
  if (!real) return r.Skip("its input is not made by ", form.real);
  if (!IsPlainQuantize(q)) return r.Skip("the Quantize is not from f32 to 8 or 16 bits with one scale");
  if (!OnlyUse(q.input(0)) || real->outputs().size() != 1)
    return r.Skip("the result of ", form.real, " is also read by another node");
  if (form.has_bias && real->input(3)) return r.Skip(form.real, " adds a residual");
  const OpDef& op = *FindOp(name);
  Attrs attrs = op.defaults;
  if (!TakeAttrs(*real, attrs)) return r.Skip("an attribute of ", form.real, " has no counterpart");
  InputCollector g(form, *real);
  if (!g.Operands()) return r.Skip(g.why);
  if (form.has_bias && !g.Bias()) return r.Skip(g.why);
  g.Result(r);
  return r.Replace(r.Op(op, attrs, g.All()));
}

bool FuseEither(Rewrite& r, const char* first, const char* second) {
  const bool other = MadeBy(r.root().input(0), QuantizedFormOf(second)->real) != nullptr;
  return Fuse(r, other ? second : first);
}

// True if q reads a Relu that has no effect, because q saturates negative values anyway. The rule
// RemoveBoundsBeforeQuantize removes this Relu.
bool RedundantRelu(const Node& q) {
  return MadeBy(q.input(0), "Unary", "relu") && OrdinaryScale(q.input(1)) &&
         (!q.input(2) || q.input(2)->is_constant()) && Saturates(q, 0, INFINITY);
}

bool FuseFunction(Rewrite& r) {
  if (RedundantRelu(r.root()))
    return r.Skip("the Quantize saturates negative values, so the Relu is redundant");
  return FuseEither(r, "QUnary", "QActivation");
}

}  // namespace

TERN_RULE(FuseQuantizedFunction) {
  return Rule{.summary = "Dequantize, a unary function, Quantize become one QUnary or QActivation",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = FuseFunction,
              .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #s: f32[] = (0.1)  #t: f32[] = (0.004)  #z: u8[] = (128)
  %y = Quantize(Sigmoid(Dequantize(%x, #s, #z)), #t)
})"};
}

TERN_RULE(FuseQuantizedConv) {
  return Rule{.summary = "Dequantize, Conv, Quantize become one QConv",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return Fuse(r, "QConv"); },
              .example = R"(graph @g(%x: u8[N,2,5,5]) -> (%y) {
  #w: i8[2,2,1,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #t: f32[] = (0.07)  #z: u8[] = (3)
  %y = Quantize(Conv(Dequantize(%x, #s, #z), Dequantize(#w, #s)), #t, #z)
})"};
}

TERN_RULE(FuseQuantizedMatMul) {
  return Rule{.summary = "Dequantize, MatMul, Quantize become one QMatMul",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return Fuse(r, "QMatMul"); },
              .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #w: i8[4,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #t: f32[] = (0.07)  #z: u8[] = (3)
  %y = Quantize(MatMul(Dequantize(%x, #s, #z), Dequantize(#w, #s)), #t, #z)
})"};
}

TERN_RULE(FuseQuantizedBinary) {
  return Rule{.summary = "Dequantize, a sum or product, Quantize become one QBinary",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return Fuse(r, "QBinary"); },
              .example = R"(graph @g(%a: u8[N,4], %b: u8[N,4]) -> (%y) {
  #s: f32[] = (0.1)  #t: f32[] = (0.2)  #u: f32[] = (0.3)  #z: u8[] = (3)
  %y = Quantize(Binary(Dequantize(%a, #s, #z), Dequantize(%b, #t)) {kind="add"}, #u, #z)
})"};
}

TERN_RULE(FuseQuantizedPool) {
  return Rule{.summary = "Dequantize, average pooling, Quantize become one QPool or QGlobalPool",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return FuseEither(r, "QPool", "QGlobalPool"); },
              .example = R"(graph @g(%x: u8[N,4,7,7]) -> (%y) {
  #s: f32[] = (0.1)  #t: f32[] = (0.2)  #z: u8[] = (3)
  %y = Quantize(GlobalPool(Dequantize(%x, #s, #z)), #t, #z)
})"};
}

}  // namespace tern
