// Exports quantization.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

AttrList Placement(const TernNode& n) {
  return {{"axis", n.attrs().Int("axis")}, {"block_size", n.attrs().Int("block_size")}};
}

// Returns the name of the zero point. If the node has none, emits zeros of the type `to`, because every
// runtime derives the result's type from the zero point. Returns "" if the shape of the zeros is unknown.
std::string ZeroPoint(TernNode& n, DType to) {
  const Shape& scale = n.TypeOf(1).shape;
  if (n.Has(2)) return n.In(2);
  return scale.fully_known() ? n.Const(Tensor(to, scale.Concrete())) : "";
}

// QuantizeLinear requires that x and scale have the same type. If both are f16 or both are bf16, they keep
// this type. In all other cases, they are cast to f32.
Status Quantize(TernNode& n) {
  const DType x = n.TypeOf(0).dtype, scale = n.TypeOf(1).dtype, to = n.node.output(0)->type.dtype;
  const DType precision = n.attrs().Type("precision");
  const DType work = x == scale && (x == DType::kF16 || x == DType::kBF16) ? x : DType::kF32;
  AttrList attrs = Placement(n);
  attrs.emplace_back("saturate", n.attrs().Bool("saturate"));
  const std::string zero = ZeroPoint(n, to);
  if (zero.empty()) attrs.emplace_back("output_dtype", to);
  if (precision != DType::kInvalid && precision != work) {
    n.NeedOpset(23);
    attrs.emplace_back("precision", precision);
  }
  n.Emit("QuantizeLinear", {CastName(n, n.In(0), x, work), CastName(n, n.In(1), scale, work), zero},
         {n.Out(0)}, attrs);
  return {};
}

// The result of DequantizeLinear has the scale's type. If the node's result has this type, and the type is
// not f64, no Cast is needed. Otherwise casts the scale to f32, and casts the result to the type of the
// node's result.
Status Dequantize(TernNode& n) {
  const DType scale = n.TypeOf(1).dtype, to = n.node.output(0)->type.dtype;
  const DType work = scale == to && to != DType::kF64 ? to : DType::kF32;
  const std::vector<std::string> inputs = {n.In(0), CastName(n, n.In(1), scale, work), n.In(2)};
  if (work == to) {
    n.Emit("DequantizeLinear", inputs, {n.Out(0)}, Placement(n));
  } else {
    n.Emit("Cast", {n.Op("DequantizeLinear", inputs, Placement(n))}, {n.Out(0)}, {{"to", to}});
  }
  return {};
}

// ONNX computes the scale and the zero point together with the quantized tensor, which has no reader here.
Status DynamicScale(TernNode& n) {
  n.Emit("DynamicQuantizeLinear", {n.In(0)}, {n.Temp(), n.Out(0), n.Out(1)});
  return {};
}

}  // namespace

TERN_EXPORTERS(quant) {
  table.Add("DynamicScale", DynamicScale);
  table.Add("Quantize", Quantize);
  table.Add("Dequantize", Dequantize);
}

}  // namespace tern::onnx
