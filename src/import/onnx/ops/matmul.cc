// Converts matrix products.
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

Status Gemm(OnnxNode& n) {
  for (int i : {0, 1})
    if (n.RankOf(i) >= 0 && n.RankOf(i) != 2)
      return n.Bad("input ", i, " must have rank 2, got ", n.In(i)->type.ToString());
  const float alpha = n.Float("alpha", 1), beta = n.Float("beta", 1);
  Value* bias = beta == 0 ? nullptr : n.In(2);
  const bool scaled = bias && beta != 1;
  if (scaled) {
    TERN_TRY(Require(n, 2));
  }
  const AttrList attrs = {{"transpose_a", n.Int("transA") != 0},
                          {"transpose_b", n.Int("transB") != 0},
                          {"alpha", static_cast<double>(alpha)}};
  if (scaled && IsInt(n.TypeOf(2))) return n.NotYet("beta ", beta, " with integer inputs");
  if (scaled) bias = n.b.Op("Binary", {bias, n.b.Scalar(n.TypeOf(2), beta)}, {{"kind", "mul"}});
  n.Out(0, n.b.Op("MatMul", {n.In(0), n.In(1), bias}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  table.Add("MatMul", Direct("MatMul"));
  table.Add("Gemm", Gemm);
  table.Add("Einsum", Direct("Einsum", {"equation"}));
}

}  // namespace tern::onnx
