// Products of matrices.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

void Gemm(TernNode& n, const std::string& out) {
  const Attrs& a = n.attrs();
  n.Emit("Gemm", {n.In(0), n.In(1), n.In(2)}, {out},
         {{"transA", a.Bool("transpose_a")},
          {"transB", a.Bool("transpose_b")},
          {"alpha", static_cast<double>(a.Float("alpha"))}});
}

Result<std::string> Operand(TernNode& n, int i, bool transpose) {
  const int rank = n.TypeOf(i).shape.rank();
  if (!transpose || rank == 1) return n.In(i);
  if (rank < 0) return n.NotExportable("transposing input ", i, " needs a known rank");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  for (size_t k = 0; k < perm.size(); ++k) perm[k] = static_cast<int64_t>(k);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return n.Op("Transpose", {n.In(i)}, {{"perm", perm}});
}

bool Byte(DType t) { return t == DType::kI8 || t == DType::kU8; }

// The bare product, in the output's type; integers that ONNX cannot multiply are widened first.
std::string Product(TernNode& n, const std::string& a, const std::string& b, const std::string& out) {
  const DType ta = n.TypeOf(0).dtype, tb = n.TypeOf(1).dtype, y = n.node.output(0)->type.dtype;
  if (Byte(ta) && Byte(tb)) return n.Emit("MatMulInteger", {a, b}, {out});
  return n.Emit("MatMul", {CastName(n, a, ta, y), CastName(n, b, tb, y)}, {out});
}

std::string Scaled(TernNode& n, const std::string& x) {
  const DType type = n.node.output(0)->type.dtype;
  const float alpha = n.attrs().Float("alpha");
  if (alpha == 1) return x;
  if (IsFloat(type)) return n.Op("Mul", {x, n.Scalar(type, alpha)});
  const std::string wide = n.Op("Mul", {CastName(n, x, type, DType::kF64), n.Scalar(DType::kF64, alpha)});
  return CastName(n, wide, DType::kF64, type);
}

// Everything but the epilogue.
Status Sums(TernNode& n, const std::string& out) {
  const Attrs& attrs = n.attrs();
  const bool flat = n.TypeOf(0).shape.rank() == 2 && n.TypeOf(1).shape.rank() == 2;
  const bool last = attrs.Float("alpha") == 1 && !n.Has(2);
  const bool plain = last && !attrs.Bool("transpose_a") && !attrs.Bool("transpose_b");
  if (flat && !plain && IsFloat(n.node.output(0)->type.dtype)) return Gemm(n, out), Status();
  TERN_ASSIGN(std::string a, Operand(n, 0, attrs.Bool("transpose_a")));
  TERN_ASSIGN(std::string b, Operand(n, 1, attrs.Bool("transpose_b")));
  std::string y = Product(n, a, b, last ? out : n.Temp());
  if (last) return {};
  y = Scaled(n, y);
  if (n.Has(2))
    n.Emit("Add", {y, n.In(2)}, {out});
  else
    n.Emit("Identity", {y}, {out});
  return {};
}

Status MatMul(TernNode& n) {
  const std::string sums = SumsOf(n);
  TERN_TRY(Sums(n, sums));
  EmitEpilogue(n, sums);
  return {};
}

}  // namespace

TERN_EXPORTERS(matmul) {
  table.Add("MatMul", MatMul);
  table.Add("Einsum", DirectTo("Einsum", {"equation"}));
}

}  // namespace tern::onnx
