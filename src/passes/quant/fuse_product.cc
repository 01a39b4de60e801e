// Fuses Dequantize, Conv or MatMul, a sum with a residual, an activation, and Quantize into one quantized op.
#include <cmath>

#include "passes/quant/collect.h"
#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// The nodes between a Conv or MatMul and a Quantize.
struct Epilogue {
  const Node* real = nullptr;  // the Conv or MatMul
  Value* residual = nullptr;
  const Node* activation = nullptr;  // a Relu or Clip
};

// Returns the node of op `name` that makes v, if `v` has no other reader.
const Node* OnlyProduct(const Value* v, const char* name) { return OnlyUse(v) ? MadeBy(v, name) : nullptr; }

// If one operand of the sum is made by op `name` and the other one by Dequantize, sets the members.
bool FindSum(const Value* v, const char* name, Epilogue& e) {
  const Node* sum = OnlyUse(v) ? MadeBy(v, "Binary", "add") : nullptr;
  for (int i = 0; sum && i < 2; ++i) {
    const Node* product = OnlyProduct(sum->input(i), name);
    if (!product || product->input(3) || product->attrs.Text("activation") != "none" ||
        !PlainDequantize(sum->input(1 - i)))
      continue;
    e.real = product, e.residual = sum->input(1 - i);
    return true;
  }
  return false;
}

// Returns the nodes that the quantized op replaces. `real` is null if there is no op `name`.
Epilogue FindEpilogue(const Node& quantize, const char* name) {
  Epilogue e;
  Value* v = quantize.input(0);
  const Node* clip = MadeBy(v, "Clip");
  if (OnlyUse(v) && (MadeBy(v, "Unary", "relu") || clip)) {
    e.activation = v->producer;
    v = v->producer->input(0);
  }
  if (FindSum(v, name, e)) return e;
  e.real = MadeBy(v, name);
  if (e.real) e.residual = e.real->input(3);
  if (e.real && e.activation && (!OnlyUse(v) || e.real->attrs.Text("activation") != "none")) e.real = nullptr;
  return e;
}

// Sets the attributes of a Relu or Clip. Returns false if the bounds of a Clip are not known.
bool TakeActivation(const Node& activation, Attrs& attrs) {
  if (!IsOp(activation, "Clip")) return attrs.Set("activation", "relu").ok();
  double bounds[] = {-INFINITY, INFINITY};
  for (int i : {0, 1}) {
    if (!activation.input(i + 1)) continue;
    const auto bound = ScalarOf(activation.input(i + 1));
    if (!bound || std::isnan(*bound)) return false;
    bounds[i] = *bound;
  }
  return bounds[0] <= bounds[1] && attrs.Set("activation", "clip").ok() &&
         attrs.Set("act_alpha", bounds[0]).ok() && attrs.Set("act_beta", bounds[1]).ok();
}

bool FuseProduct(Rewrite& r, const char* name) {
  const QuantizedForm& form = *QuantizedFormOf(name);
  const Node& q = r.root();
  const Epilogue e = FindEpilogue(q, form.real);
  if (!e.real) return r.Skip("its input is not made by ", form.real);
  if (!IsPlainQuantize(q)) return r.Skip("the Quantize is not from f32 to 8 or 16 bits with one scale");
  if (!OnlyUse(q.input(0))) return r.Skip("the result of ", form.real, " is also read by another node");
  const OpDef& op = *FindOp(name);
  Attrs attrs = op.defaults;
  if (!TakeAttrs(*e.real, attrs)) return r.Skip("an attribute of ", form.real, " has no counterpart");
  if (e.activation && !TakeActivation(*e.activation, attrs)) return r.Skip("the bounds are not constant");
  // With a scale of 0, the bounds cannot be expressed as integers.
  if (attrs.Text("activation") != "none" && !OrdinaryScale(q.input(1)))
    return r.Skip("there is an activation, and the scale of the result is not a positive constant");
  InputCollector g(form, *e.real);
  if (!g.Operands()) return r.Skip(g.why);
  g.Result(r);
  if (!g.Bias(r) || !g.Residual(e.residual)) return r.Skip(g.why);
  return r.Replace(r.Op(op, attrs, g.inputs()));
}

}  // namespace

TERN_RULE(FuseQuantizedConv) {
  return Rule{.summary = "Dequantize, Conv, Quantize become one QConv",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return FuseProduct(r, "QConv"); },
              .example = R"(graph @g(%x: u8[N,2,5,5]) -> (%y) {
  #w: i8[2,2,1,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #t: f32[] = (0.07)  #z: u8[] = (3)
  %y = Quantize(Conv(Dequantize(%x, #s, #z), Dequantize(#w, #s)), #t, #z)
})"};
}

TERN_RULE(FuseQuantizedMatMul) {
  return Rule{.summary = "Dequantize, MatMul, Quantize become one QMatMul",
              .level = Level::kExtended,
              .roots = {"Quantize"},
              .apply = [](Rewrite& r) { return FuseProduct(r, "QMatMul"); },
              .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #w: i8[4,1] = (1, 2, 3, 4)  #s: f32[] = (0.1)  #t: f32[] = (0.07)  #z: u8[] = (3)
  %y = Quantize(MatMul(Dequantize(%x, #s, #z), Dequantize(#w, #s)), #t, #z)
})"};
}

}  // namespace tern
