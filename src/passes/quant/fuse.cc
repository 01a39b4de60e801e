// Fuses Dequantize, a float op other than a product, and Quantize into one quantized op.
#include <cmath>

#include "passes/quant/collect.h"
#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool Fuse(Rewrite& r, const char* name) {
  const QuantizedForm& form = *QuantizedFormOf(name);
  const Node& q = r.root();
  const Node* real = MadeBy(q.input(0), form.real);
  if (!real) return r.Skip("its input is not made by ", form.real);
  if (!IsPlainQuantize(q)) return r.Skip("the Quantize is not from f32 to 8 or 16 bits with one scale");
  if (!OnlyUse(q.input(0)) || real->outputs().size() != 1)
    return r.Skip("the result of ", form.real, " is also read by another node");
  const OpDef& op = *FindOp(name);
  Attrs attrs = op.defaults;
  if (!TakeAttrs(*real, attrs)) return r.Skip("an attribute of ", form.real, " has no counterpart");
  InputCollector g(form, *real);
  if (!g.Operands()) return r.Skip(g.why);
  g.Result(r);
  return r.Replace(r.Op(op, attrs, g.inputs()));
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
