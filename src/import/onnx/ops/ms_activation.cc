// Converts activations of com.microsoft, some of which include a bias or a gate.
#include "import/onnx/ops/emit.h"

namespace tern::onnx {
namespace {

Status Gelu(OnnxNode& n, const char* approximate) {
  Emit e(n);
  TERN_TRY(Require(n, 0, kFloats));
  Value* x = n.Has(1) ? e.Add(n.In(0), n.In(1)) : n.In(0);
  n.Out(0, n.b.Op("Gelu", {x}, {{"approximate", approximate}}));
  return {};
}

Status QuickGelu(OnnxNode& n) {
  n.Out(0, n.b.Op("Activation", {n.In(0)},
                  {{"kind", "swish"}, {"alpha", static_cast<double>(n.Float("alpha", 1.702f))}}));
  return {};
}

// The first half of the last axis is x, the second half is its gate.
Status BiasSplitGelu(OnnxNode& n) {
  Emit e(n);
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  const auto halves =
      n.b.Ops("Split", {e.Add(n.In(0), n.In(1))}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}}, 2);
  n.Out(0, e.Mul(halves[0], n.b.Op("Gelu", {halves[1]})));
  return {};
}

Status BiasAdd(OnnxNode& n) {
  Emit e(n);
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  n.Out(0, e.Add(e.Add(n.In(0), n.In(1)), n.In(2)));
  return {};
}

Status BiasSoftmax(OnnxNode& n) {
  Emit e(n);
  for (int i : {0, 1}) TERN_TRY(Require(n, i, kFloats));
  const int rank = n.RankOf(0);
  if (rank < 0) return n.NotYet("an input of unknown rank");
  TERN_ASSIGN(const int axis, NormalizeAxis(n.Int("axis", 1), rank));
  Value* x = e.Add(n.In(0), n.In(1));
  if (axis == rank - 1) {
    n.Out(0, n.b.Op("Softmax", {x}, {{"axis", int64_t{-1}}}));
    return {};
  }
  Value* flat = n.b.Op("Flatten", {x}, {{"axis", int64_t{axis}}});
  Value* y = n.b.Op("Softmax", {flat}, {{"axis", int64_t{-1}}});
  n.Out(0, n.b.Op("Reshape", {y, n.b.Op("Shape", {x})}));
  return {};
}

Status GatedAdd(OnnxNode& n) {
  Emit e(n);
  for (int i : {0, 1, 2}) TERN_TRY(Require(n, i, kFloats));
  n.Out(0, e.Add(n.In(0), e.Mul(n.In(2), n.In(1))));
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_activation) {
  table.Add(
      "Gelu", [](OnnxNode& n) { return Gelu(n, "none"); }, kMicrosoft);
  table.Add(
      "BiasGelu", [](OnnxNode& n) { return Gelu(n, "none"); }, kMicrosoft);
  table.Add(
      "FastGelu", [](OnnxNode& n) { return Gelu(n, "tanh"); }, kMicrosoft);
  table.Add("QuickGelu", QuickGelu, kMicrosoft);
  table.Add("BiasSplitGelu", BiasSplitGelu, kMicrosoft);
  table.Add("BiasAdd", BiasAdd, kMicrosoft);
  table.Add("BiasSoftmax", BiasSoftmax, kMicrosoft);
  table.Add("GatedAdd", GatedAdd, kMicrosoft);
  table.Add("SampleOp", Direct("Identity"), kMicrosoft);
}

}  // namespace tern::onnx
