// Replaces a float product of dequantized tensors by an integer product with an f32 result, so that the
// weights stay 8-bit in memory.
#include "passes/quant/collect.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool HasBytes(const Value* v) { return v->type.dtype == DType::kU8 || v->type.dtype == DType::kI8; }

bool Fuse(Rewrite& r, const char* name) {
  const QuantizedForm& form = *QuantizedFormOf(name);
  const Node& real = r.root();
  const OpDef& op = *FindOp(name);
  Attrs attrs = op.defaults;
  InputCollector g(form, real);
  if (!g.Operands()) return r.Skip(g.why);
  if (!HasBytes(g.inputs()[0]) || !HasBytes(g.inputs()[3])) return r.Skip("an operand does not have 8 bits");
  if (!g.inputs()[3]->is_constant()) return r.Skip("the weights are not constant");
  if (!TakeAttrs(real, attrs)) return r.Skip("an attribute of ", form.real, " has no counterpart");
  g.RealResult();
  if (!g.Bias(r) || !g.Residual(real.input(3))) return r.Skip(g.why);
  return r.Replace(r.Op(op, attrs, g.inputs()));
}

}  // namespace

TERN_RULE(FuseDequantizeIntoConv) {
  return Rule{.summary = "Conv of dequantized 8-bit tensors becomes a QConv with an f32 result",
              .level = Level::kExtended,
              .roots = {"Conv"},
              .apply = [](Rewrite& r) { return Fuse(r, "QConv"); },
              .example = R"(graph @g(%x: u8[N,2,5,5]) -> (%y) {
  #w: i8[2,2,1,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #z: u8[] = (3)  #b: f32[2] = (1, 2)
  %y = Conv(Dequantize(%x, #s, #z), Dequantize(#w, #s), #b)
})"};
}

TERN_RULE(FuseDequantizeIntoMatMul) {
  return Rule{.summary = "MatMul of dequantized 8-bit tensors becomes a QMatMul with an f32 result",
              .level = Level::kExtended,
              .roots = {"MatMul"},
              .apply = [](Rewrite& r) { return Fuse(r, "QMatMul"); },
              .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #w: i8[4,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #z: u8[] = (3)
  %y = MatMul(Dequantize(%x, #s, #z), Dequantize(#w, #s))
})"};
}

}  // namespace tern
