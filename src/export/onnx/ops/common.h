// Helpers that several exporters of matrix and network ops share.
#pragma once
#include <algorithm>

#include "export/onnx/exporter.h"

namespace tern::onnx {

// Casts `name` from one type to another; emits no node when they are equal.
inline std::string CastName(TernNode& n, const std::string& name, DType from, DType to) {
  return name.empty() || from == to ? name : n.Op("Cast", {name}, {{"to", to}});
}

// Emits an operator with one output that computes in type `work`. Inputs and result are cast where the node's
// type differs. Inputs in the bit set `keep` are not cast. The result is named `out`, or as the node's
// output.
inline void EmitIn(TernNode& n, DType work, const char* op, const std::vector<std::string>& inputs,
                   const AttrList& attrs, uint32_t keep = 0, const std::string& out = "") {
  const DType own = n.node.output(0)->type.dtype;
  const std::string y = out.empty() ? n.Out(0) : out;
  if (work == own) {
    n.Emit(op, inputs, {y}, attrs);
    return;
  }
  std::vector<std::string> cast;
  for (size_t i = 0; i < inputs.size(); ++i)
    cast.push_back(keep >> i & 1 ? inputs[i] : CastName(n, inputs[i], own, work));
  n.Emit("Cast", {n.Op(op, cast, attrs)}, {y}, {{"to", own}});
}

// Whether a node or the graph's outputs read this output.
inline bool Wanted(const TernNode& n, size_t output) {
  if (n.node.outputs().size() <= output) return false;
  const Value* v = n.node.outputs()[output];
  const auto& results = n.node.graph->outputs();
  return !v->uses.empty() || std::find(results.begin(), results.end(), v) != results.end();
}

// Older operators of the exported opset do not take bf16.
inline DType WithoutBFloat(DType t) { return t == DType::kBF16 ? DType::kF32 : t; }

// Returns strides, dilations, pads and auto_pad as ONNX attributes, without empty lists.
AttrList WindowToOnnx(const Attrs& attrs);
// Returns the attributes of WindowToOnnx, and a pool's kernel_shape and ceil_mode. Raises the opset as they
// require.
AttrList PoolToOnnx(TernNode& n);

// A kind of Unary, Activation or Gelu, or "clip" with bounds alpha and beta, on floats of `type`.
struct Function {
  std::string kind;
  DType type;
  double alpha = 1, beta = 0;
};
void EmitFunction(TernNode& n, const Function& f, const std::string& x, const std::string& out);

// Returns the name for the accumulated result of a product or convolution. It is the output's name if there
// is no epilogue.
std::string SumsOf(TernNode& n);
// Emits the epilogue: residual (input 3) and activation.
void EmitEpilogue(TernNode& n, std::string sums);
void EmitActivation(TernNode& n, const std::string& sums);  // without the residual

}  // namespace tern::onnx
