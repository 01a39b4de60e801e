// Helpers that several exporters of matrix and network ops share.
#pragma once
#include <algorithm>

#include "export/onnx/exporter.h"

namespace tern::onnx {

// `name` of type `from` as `to`; no node when they are the same.
inline std::string CastName(TernNode& n, const std::string& name, DType from, DType to) {
  return name.empty() || from == to ? name : n.Op("Cast", {name}, {{"to", to}});
}

// Emits a one-output operator that works in `work` while the node's floats are `own`: casts around it where
// they differ. Inputs `keep` (a bit set) pass as they are. The result is `out`, or the node's output.
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

// Somebody reads this output.
inline bool Wanted(const TernNode& n, size_t output) {
  if (n.node.outputs().size() <= output) return false;
  const Value* v = n.node.outputs()[output];
  const auto& results = n.node.graph->outputs();
  return !v->uses.empty() || std::find(results.begin(), results.end(), v) != results.end();
}

// The exported opset's older operators know no bf16.
inline DType WithoutBFloat(DType t) { return t == DType::kBF16 ? DType::kF32 : t; }

// strides, dilations, pads and auto_pad as ONNX has them; empty lists are left out.
AttrList WindowToOnnx(const Attrs& attrs);
// The same with a pool's kernel and ceil_mode; asks for the opset that they need.
AttrList PoolToOnnx(TernNode& n);

// A function of Unary, Activation, Gelu or Clip ("clip", from alpha to beta) on floats of `type`.
struct Function {
  std::string kind;
  DType type;
  double alpha = 1, beta = 0;
};
void EmitFunction(TernNode& n, const Function& f, const std::string& x, const std::string& out);

// The name under which a product or convolution emits its sums: its output's, when nothing follows.
std::string SumsOf(TernNode& n);
// The rest: residual (input 3) and activation.
void EmitEpilogue(TernNode& n, std::string sums);
void EmitActivation(TernNode& n, const std::string& sums);  // of the two only the second

}  // namespace tern::onnx
