// Makes ops that only select or reorder elements work on quantized tensors directly.
#include <algorithm>

#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns the range [first, second) of the inputs whose elements the node copies to its outputs.
std::pair<size_t, size_t> DataInputs(const Node& node) {
  const Movement moves = node.op->movement.value_or(Movement{});
  const auto first = static_cast<size_t>(moves.first);
  return {first, moves.count == Movement::kAllInputs ? node.inputs().size()
                                                     : first + static_cast<size_t>(moves.count)};
}

bool HasBorder(const Node& op) {
  return op.op->movement && op.op->movement->border == Movement::Border::kInput;
}

// Quantizes the border value of a Pad. If the mode is not "constant", removes the border value, because
// Pad does not read it.
bool QuantizeBorder(Rewrite& r, const Node& op, std::vector<Value*>& inputs) {
  if (!HasBorder(op)) return true;
  const Node& q = r.root();
  const auto at = static_cast<size_t>(op.op->movement->border_input);
  inputs.resize(std::max(inputs.size(), at + 1));
  if (op.attrs.Has("mode") && op.attrs.Text("mode") != "constant") {
    inputs[at] = nullptr;
    return true;
  }
  const auto border = inputs[at] ? ScalarOf(inputs[at]) : 0.0;
  if (!border || (q.input(2) && !q.input(2)->is_constant())) return r.Skip("the border value is not known");
  inputs[at] = r.Op("Quantize", {r.Scalar(DType::kF32, *border), q.input(1), q.input(2)},
                    {{"to", q.output(0)->type.dtype}});
  return true;
}

// Returns the quantized tensor that the Quantize at the root makes of `v`. `d` is the Dequantize whose
// integers are the elements of `v`.
Value* WithParameters(Rewrite& r, Value* v, const Node& d) {
  const Node& q = r.root();
  if (v->type.dtype == q.output(0)->type.dtype && SameParameter(d.input(1), q.input(1)) &&
      SameZeroPoint(d.input(2), q.input(2)))
    return v;
  Value* zero = q.input(2);
  const DType to = q.output(0)->type.dtype;
  if (!zero && to != v->type.dtype) zero = r.Const(Tensor(to, q.input(1)->type.shape.Concrete()));
  return r.Op("Requantize", {v, d.input(1), d.input(2), q.input(1), zero});
}

bool RemoveAround(Rewrite& r) {
  const Node& q = r.root();
  const Node* op = q.input(0)->producer;
  if (!op || !op->op->keeps_scale(op->attrs))
    return r.Skip("its input is not made by an op that only selects or reorders elements");
  if (!OnlyUse(q.input(0)) || op->outputs().size() != 1)
    return r.Skip("its input is also read by another node");
  if (!IsPlainQuantize(q)) return r.Skip("the Quantize is not from f32 to 8 or 16 bits with one scale");
  if (!OrdinaryScale(q.input(1)))
    return r.Skip("the scale is not constant, or too large or small to be exact");
  std::vector<Value*> inputs = op->inputs();
  const auto [first, end] = DataInputs(*op);
  // If the op has one data input, requantizing its result may be cheaper than requantizing the input.
  const bool one = end - first == 1 && !HasBorder(*op);
  const Node* d = nullptr;
  for (size_t i = first; i < end; ++i) {
    d = PlainDequantize(inputs[i]);
    if (!d || !OneScale(*d)) return r.Skip("a data input is not made by Dequantize with one scale");
    if (!OrdinaryScale(d->input(1)))  // with a negative scale, a maximum becomes a minimum
      return r.Skip("the scale of a data input is not constant, or too large or small to be exact");
    inputs[i] = one ? d->input(0) : WithParameters(r, d->input(0), *d);
  }
  if (!QuantizeBorder(r, *op, inputs)) return false;
  Value* y = r.Op(*op->op, op->attrs, inputs);
  return r.Replace(one ? WithParameters(r, y, *d) : y);
}

bool FuseRequantize(Rewrite& r) {
  const Node& q = r.root();
  const Node* d = PlainDequantize(q.input(0));
  if (!d || !OneScale(*d)) return r.Skip("its input is not made by Dequantize with one scale");
  if (!IsPlainQuantize(q)) return r.Skip("the Quantize is not from f32 to 8 or 16 bits with one scale");
  Value* y = WithParameters(r, d->input(0), *d);
  if (y == d->input(0)) return r.Skip("scale, zero point and type are the same");
  return r.Replace(y);
}

}  // namespace

TERN_RULE(RemoveDequantizeQuantizeAround) {
  return Rule{
      .summary =
          "an op that only selects or reorders elements, between Dequantize and Quantize, reads the quantized "
          "tensor; Requantize changes the scale or zero point if they differ",
      .level = Level::kExtended,
      .roots = {"Quantize"},
      .apply = RemoveAround,
      .example = R"(graph @g(%x: u8[N,4,7,7]) -> (%y) {
  #s: f32[] = (0.1)  #z: u8[] = (3)
  %y = Quantize(Pool(Dequantize(%x, #s, #z)) {kind="max", kernel=[2,2]}, #s, #z)
})"};
}

TERN_RULE(FuseRequantize) {
  return Rule{
      .summary = "Dequantize then Quantize with another scale, zero point or type becomes one Requantize",
      .level = Level::kExtended,
      .roots = {"Quantize"},
      .apply = FuseRequantize,
      .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #s: f32[] = (0.1)  #t: f32[] = (0.2)  #z: u8[] = (3)
  %y = Quantize(Dequantize(%x, #s, #z), #t)
})"};
}

}  // namespace tern
