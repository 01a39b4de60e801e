// Helpers that several exporters share.
#pragma once
#include <algorithm>

#include "export/onnx/exporter.h"

namespace tern::onnx {

constexpr const char* kMl = "ai.onnx.ml";  // domain of the operators of classical machine learning

// Emits a Cast of the value `name` and returns the name of the result. If the types are equal, emits nothing
// and returns `name`.
inline std::string CastName(TernNode& n, const std::string& name, DType from, DType to) {
  return name.empty() || from == to ? name : n.Op("Cast", {name}, {{"to", to}});
}

// Returns the name of input i, or "" if it is absent. If the input is i32, emits a Cast to i64 and returns
// the name of its result. Used for inputs that must be i64 in ONNX, such as axes, dims and Trilu's k.
inline std::string Longs(TernNode& n, int i) {
  if (!n.Has(i) || n.TypeOf(i).dtype != DType::kI32) return n.In(i);
  return n.Op("Cast", {n.In(i)}, {{"to", DType::kI64}});
}

// Emits an operator with one output that computes in type `work`. If the node's result has another type, also
// emits Casts of the inputs to `work` and a Cast of the result back. If bit i of `keep` is set, input i is
// not cast. `out` is the name of the result. If `out` is empty, the result has the name of the node's output.
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

// Returns whether a node reads this output, or the graph returns it.
inline bool Wanted(const TernNode& n, size_t output) {
  if (n.node.outputs().size() <= output) return false;
  const Value* v = n.node.outputs()[output];
  const auto& results = n.node.graph->outputs();
  return !v->uses.empty() || std::find(results.begin(), results.end(), v) != results.end();
}

// Returns the type in which an operator without bf16 support computes. This is f32 if t is bf16, and t for
// all other types.
inline DType WithoutBFloat(DType t) { return t == DType::kBF16 ? DType::kF32 : t; }

// Returns the ONNX attributes strides, dilations, pads and auto_pad. Leaves out empty lists.
AttrList WindowToOnnx(const Attrs& attrs);
// Returns the attributes of WindowToOnnx and a pool's kernel_shape and ceil_mode. Raises the model's opset if
// ceil_mode requires it.
AttrList PoolToOnnx(TernNode& n);

// An elementwise function on tensors of `type`. `kind` is a kind of Unary or Activation, "gelu", "gelu_tanh",
// or "clip" with the limits alpha and beta.
struct Function {
  std::string kind;
  DType type;
  double alpha = 1, beta = 0;
};
void EmitFunction(TernNode& n, const Function& f, const std::string& x, const std::string& out);

bool HasActivation(const TernNode& n);  // whether the node\'s epilogue has an activation
// Returns a name for the result of a product or convolution before its epilogue. If the node has no epilogue,
// this is the name of the node's output. Otherwise it is a new name.
std::string SumsOf(TernNode& n);
// Emits the epilogue, which adds the residual (input 3) and applies the activation. Emits nothing if there is
// none.
void EmitEpilogue(TernNode& n, std::string sums);
void EmitActivation(TernNode& n, const std::string& sums);  // emits only the activation

}  // namespace tern::onnx
