// Converts matrix products and the addition of a bias.
#include "import/mindir/ops/promote.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

Status MatMul(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(Require(n, 1));
  Emit e(n);
  const auto [a, b] = Promoted(e, 0, 1);
  n.Out(n.b.Op("MatMul", {a, b},
               {{"transpose_a", n.Bool(2, {"transpose_a", "transpose_x1", "adj_x"})},
                {"transpose_b", n.Bool(3, {"transpose_b", "transpose_x2", "adj_y"})}}));
  return {};
}

// Products of vectors, matrices and stacks of matrices.
Status PlainMatMul(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(Require(n, 1));
  Emit e(n);
  const auto [a, b] = Promoted(e, 0, 1);
  n.Out(n.b.Op("MatMul", {a, b}));
  return {};
}

// Inputs: x, weight [M, C], bias.
Status Dense(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(Require(n, 1, kFloats));
  Emit e(n);
  Value* y = n.b.Op("MatMul", {n.In(0), n.In(1)}, {{"transpose_b", true}});
  n.Out(n.Has(2) ? e.Add(y, n.In(2)) : y);
  return {};
}

// Adds a vector along the channels, which are axis 1, or the last axis in the format NHWC.
Status BiasAdd(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(Require(n, 1));
  TERN_TRY(RequireRank(n, 0, 2));
  Emit e(n);
  Value* bias = n.In(1);
  if (!IsChannelsLast(n, 2)) {
    std::vector<int64_t> axes;
    for (int i = 1; i < n.RankOf(0) - 1; ++i) axes.push_back(i);
    if (!axes.empty()) bias = e.Unsqueeze(bias, axes);
  }
  n.Out(e.Add(n.In(0), bias));
  return {};
}

// Emits beta * x + alpha * (a @ b). Inputs: x, a, b, beta, alpha. Addbmm sums the products of the batch.
Status AddMatMul(MindNode& n) {
  for (int i = 0; i < 3; ++i) TERN_TRY(Require(n, i));
  Emit e(n);
  Value* product = n.b.Op("MatMul", {n.In(1), n.In(2)});
  if (n.op() == "Addbmm") product = e.Reduce("sum", product, {0}, false);
  const auto scaled = [&](Value* v, double factor) { return factor == 1 ? v : e.Mul(v, e.Like(v, factor)); };
  n.Out(e.Add(scaled(n.In(0), n.Float(3, {"beta"}, 1)), scaled(product, n.Float(4, {"alpha"}, 1))));
  return {};
}

Status Outer(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(Require(n, 1));
  Emit e(n);
  const auto [a, b] = Promoted(e, 0, 1);
  n.Out(e.Mul(e.Unsqueeze(a, {1}), e.Unsqueeze(b, {0})));
  return {};
}

Status Einsum(MindNode& n) {
  const bool ext = n.op() == "EinsumExt";
  const Item* equation = n.Arg(ext ? 0 : n.kAttribute, {"equation"});
  if (!equation || !equation->is(Item::Kind::kText)) return n.Bad("the equation is missing");
  std::vector<Value*> operands = n.Tensors(ext ? 1 : 0);
  Emit e(n);
  PromoteAll(e, operands);
  n.Out(n.b.Op("Einsum", operands, {{"equation", equation->text}}));
  return {};
}

Converter OfMatrix(const char* op) {
  return [op](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kFloats));
    if (n.Bool(n.kAttribute, {"adjoint"})) return n.NotYet("adjoint");
    n.Out(n.b.Op(op, {n.In(0)}));
    return {};
  };
}

// The vector product along an axis of size 3.
Status Cross(MindNode& n) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, 1));
  Emit e(n);
  int64_t axis = n.Int(2, {"dim"}, -65530);
  const auto [a, b] = Promoted(e, 0, 1);
  for (int i = 0; axis == -65530 && i < n.RankOf(0); ++i)
    if (n.In(0)->type.shape[i].Is(3)) axis = i;
  const auto rotated = [&](Value* v, std::vector<int64_t> order) {
    return e.Gather(v, n.b.Ints(order), axis);
  };
  n.Out(e.Sub(e.Mul(rotated(a, {1, 2, 0}), rotated(b, {2, 0, 1})),
              e.Mul(rotated(a, {2, 0, 1}), rotated(b, {1, 2, 0}))));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  for (const char* name : {"MatMul", "BatchMatMul"}) table.Add(name, MatMul);
  for (const char* name : {"MatMulExt", "BatchMatMulExt", "Mm", "Mv", "Dot", "Vdot"})
    table.Add(name, PlainMatMul);
  table.Add("Dense", Dense);
  table.Add("BiasAdd", BiasAdd);
  for (const char* name : {"Addmm", "Baddbmm", "Addbmm", "Addmv"}) table.Add(name, AddMatMul);
  for (const char* name : {"Outer", "Ger"}) table.Add(name, Outer);
  for (const char* name : {"Einsum", "EinsumExt"}) table.Add(name, Einsum);
  for (const char* name : {"MatrixInverse", "MatrixInverseExt"}) table.Add(name, OfMatrix("Inverse"));
  table.Add("MatrixDeterminant", OfMatrix("Det"));
  table.Add("Cross", Cross);
}

}  // namespace tern::mindir
