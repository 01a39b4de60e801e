// Converts products of matrices.
#include <algorithm>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

Status Product(TfNode& n, const char* transpose_a, const char* transpose_b) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  Value* y = n.Op("MatMul", {n.In(0), n.In(1)},
                  {{"transpose_a", n.Bool(transpose_a)}, {"transpose_b", n.Bool(transpose_b)}});
  if (n.HasAttr("Tout")) {
    TERN_ASSIGN(const DType to, n.DTypeAttr("Tout"));
    y = n.Cast(y, to);
  } else {
    y = n.Cast(y, n.TypeOf(0));
  }
  n.Out(0, y);
  return {};
}

// Removes the blanks of the equation, which Tern's Einsum does not allow.
Status Einsum(TfNode& n) {
  for (int i = 0; i < n.InputCount(); ++i)
    if (n.IsComplex(i)) return n.NotYet("complex numbers");
  std::string equation = n.Text("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  n.Out(0, n.Op("Einsum", n.Ins(0, -1), {{"equation", equation}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  table.Add("MatMul", [](TfNode& n) { return Product(n, "transpose_a", "transpose_b"); });
  for (const char* op : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
    table.Add(op, [](TfNode& n) { return Product(n, "adj_x", "adj_y"); });
  table.Add("Einsum", Einsum);
}

}  // namespace tern::tensorflow
