// Removes Dequantize-Quantize pairs that cancel. Removes a Relu or Clip before a Quantize that saturates
// at the same bounds.
#include <algorithm>
#include <cmath>

#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// True if Dequantize then Quantize returns every integer unchanged.
bool UndoneExactly(const Match& m) {
  const Attrs &d = m.AttrsOf("d"), &q = m.AttrsOf("q");
  if (m.DTypeOf("x") != m.DTypeOf("y")) return m.Skip("the types differ");
  if (!IsInt(m.DTypeOf("x")) || BitWidth(m.DTypeOf("x")) > 16)
    return m.Skip("the type is not an integer of up to 16 bits");
  if (!SameParameter(m.At("s"), m.At("t"))) return m.Skip("the scales differ");
  if (!SameZeroPoint(m.At("z"), m.At("o"))) return m.Skip("the zero points differ");
  if (!OrdinaryScale(m.At("s")))
    return m.Skip("the scale is not constant, or is too large or small to be exact");
  const bool one = m["s"].size() == 1;
  if (!one && (d.Int("axis") != q.Int("axis") || d.Int("block_size") != q.Int("block_size")))
    return m.Skip("the scales are along different axes");
  if (m.DTypeOf("a") != DType::kF32 || !InSingle(m.NodeOf("y")))
    return m.Skip("the Quantize is not computed in f32");
  return true;
}

bool RemoveBoundsBeforeQuantize(Rewrite& r) {
  const Node& q = r.root();
  Value* v = q.input(0);
  const bool relu = MadeBy(v, "Unary", "relu") != nullptr;
  const Node* clip = MadeBy(v, "Clip");
  if (!relu && !clip) return r.Skip("its input is not made by Relu or Clip");
  if (!IsFloatValue(v) || !IsInt(q.output(0)->type.dtype))
    return r.Skip("the Quantize is not from float to integer");
  if (v->type.dtype == DType::kF64 || !InSingle(q)) return r.Skip("the Quantize is not computed in f32");
  if (!OrdinaryScale(q.input(1)) || (q.input(2) && !q.input(2)->is_constant()))
    return r.Skip("the parameters are not constant f32");
  double low = relu ? 0 : -INFINITY, high = INFINITY;
  for (int i : {1, 2}) {
    if (!clip || !clip->input(i)) continue;
    const auto bound = ScalarOf(clip->input(i));
    if (!bound || std::isnan(*bound)) return r.Skip("a bound is not constant");
    (i == 1 ? low : high) = *bound;
  }
  if (!(low <= high) || !Saturates(q, low, high))
    return r.Skip("the Quantize does not saturate at these bounds");
  std::vector<Value*> inputs = q.inputs();
  inputs[0] = v->producer->input(0);
  return r.Replace(r.Op(*q.op, q.attrs, inputs));
}

}  // namespace

TERN_RULE(RemoveDequantizeQuantize) {
  return Rule{.summary =
                  "Dequantize then Quantize with the same scale and zero point is removed; of two "
                  "Quantize-Dequantize pairs in a row, one remains",
              .match = {"%a = Dequantize(%x, %s, %z?) {@d} shared  %y = Quantize(%a, %t, %o?) {@q}"},
              .emit = "%y = %x",
              .when = UndoneExactly};
}

TERN_RULE(RemoveBoundsBeforeQuantize) {
  return Rule{.summary = "a Relu or Clip before a Quantize is redundant where saturation does the same",
              .roots = {"Quantize"},
              .apply = RemoveBoundsBeforeQuantize,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) {
  #scale: f32[] = (0.1)  #zero: u8[] = (0)
  %y = Quantize(Relu(%x), #scale, #zero)
})"};
}

}  // namespace tern
