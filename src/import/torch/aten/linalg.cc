// Products of matrices and vectors, distances, inverses and determinants.
#include <algorithm>
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

Status MatMul(AtenNode& n, const char* left, const char* right) {
  const DType t = ResultType({&n.Get(left), &n.Get(right)});
  n.Out(n.b.Op("MatMul", {As(n, left, t), As(n, right, t)}));
  return {};
}

// input @ weightᵀ + bias
Status Linear(AtenNode& n) {
  Value *x = n.In("input"), *w = n.In("weight"), *bias = n.In("bias");
  if (w->type.shape.rank() == 1) {  // weight is a vector
    Value* y = n.b.Op("MatMul", {x, w});
    n.Out(bias ? Emit(n.b).Add(y, bias) : y);
    return {};
  }
  n.Out(n.b.Op("MatMul", {x, w, bias}, {{"transpose_b", true}}));
  return {};
}

// beta * self + alpha * (a @ b)
Status AddProduct(AtenNode& n, const char* left, const char* right, const char* sum = nullptr) {
  Emit e(n.b);
  const double beta = n.Float("beta", 1), alpha = n.Float("alpha", 1);
  Value *x = n.In(left), *y = n.In(right), *self = n.In("self");
  const bool real = IsFloat(x->type.dtype);
  if (sum) {  // addbmm sums over the batch
    Value* product = e.Reduce("sum", n.b.Op("MatMul", {x, y}), {0}, false);
    if (alpha != 1) product = e.Mul(product, e.Like(product, alpha));
    n.Out(beta == 0 ? product : e.Add(product, beta == 1 ? self : e.Mul(self, e.Like(self, beta))));
    return {};
  }
  if (!real && (alpha != 1 || beta != 1)) return n.NotYet("factors of integer products");
  if (beta == 0) {
    n.Out(n.b.Op("MatMul", {x, y}, {{"alpha", alpha}}));
    return {};
  }
  if (beta != 1) self = e.Mul(self, e.Like(self, beta));
  n.Out(n.b.Op("MatMul", {x, y, self}, {{"alpha", alpha}}));
  return {};
}

Status Outer(AtenNode& n, const char* right) {
  const DType t = ResultType({&n.Get("self"), &n.Get(right)});
  Emit e(n.b);
  n.Out(e.Mul(e.Unsqueeze(As(n, "self", t), {1}), e.Unsqueeze(As(n, right, t), {0})));
  return {};
}

Status Einsum(AtenNode& n) {
  const std::vector<Value*> operands = n.Ins("tensors");
  std::string equation = n.Text("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  n.Out(n.b.Op("Einsum", operands, {{"equation", equation}}));
  return {};
}

Status Bilinear(AtenNode& n) {
  Emit e(n.b);
  Value* y = n.b.Op("Einsum", {n.In("input1"), n.In("weight"), n.In("input2")},
                    {{"equation", "...i,oij,...j->...o"}});
  n.Out(n.Has("bias") ? e.Add(y, n.In("bias")) : y);
  return {};
}

// Euclidean or other distances between the rows of two matrices.
Status Distance(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("x1"), *y = n.In("x2");
  const double p = n.Float("p", 2);
  Value* gap = e.Unary("abs", e.Sub(e.Unsqueeze(x, {-2}), e.Unsqueeze(y, {-3})));
  if (p == 2)
    n.Out(e.Reduce("l2", gap, {-1}, false));
  else if (p == 1)
    n.Out(e.Reduce("l1", gap, {-1}, false));
  else if (std::isinf(p))
    n.Out(e.Reduce("max", gap, {-1}, false));
  else if (p > 0)
    n.Out(e.Binary("pow", e.Reduce("sum", e.Binary("pow", gap, e.Like(gap, p)), {-1}, false),
                   e.Like(gap, 1 / p)));
  else
    return n.NotYet("the distance of order ", p);
  return {};
}

// Returns the distances between all pairs of rows. They are the upper triangle of the distance matrix without
// the diagonal.
Status PairDistances(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const Arg count = SizeOf(n.b, x, 0);
  if (!count.known() || count.integer > 2000) return n.NotYet("an unknown number of rows");
  if (n.Float("p", 2) != 2) return n.NotYet("the distance of order ", n.Float("p"));
  std::vector<int64_t> a, c;
  for (int64_t i = 0; i < count.integer; ++i)
    for (int64_t j = i + 1; j < count.integer; ++j) {
      a.push_back(i);
      c.push_back(j);
    }
  const AttrList rows = {{"axis", int64_t{0}}};
  Value* gap = e.Sub(n.b.Op("Gather", {x, n.b.Ints(a)}, rows), n.b.Op("Gather", {x, n.b.Ints(c)}, rows));
  n.Out(e.Reduce("l2", gap, {-1}, false));
  return {};
}

// The cross product along a dim of size 3.
Status Cross(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *y = n.In("other");
  if (!n.Has("dim")) return n.NotYet("a cross product without a dim");
  const int64_t axis = n.Int("dim");
  const auto rotated = [&](Value* v, int64_t by) {
    return n.b.Op("Gather", {v, n.b.Ints({by, (by + 1) % 3, (by + 2) % 3})}, {{"axis", axis}});
  };
  n.Out(e.Sub(e.Mul(rotated(x, 1), rotated(y, 2)), e.Mul(rotated(x, 2), rotated(y, 1))));
  return {};
}

Status Inverse(AtenNode& n, const char* name) {
  n.Out(n.b.Op("Inverse", {n.In(name)}));
  return {};
}

// Emits the product over some dims of both tensors. Each tensor is reshaped to a matrix.
Status TensorDot(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *y = n.In("other");
  const int x_rank = x->type.shape.rank(), y_rank = y->type.shape.rank();
  const auto left = n.Ints("dims_self"), right = n.Ints("dims_other");
  if (x_rank < 0 || y_rank < 0) return n.NotYet("a tensor of unknown rank");
  if (left.size() != right.size()) return n.Bad("dims_self and dims_other differ in number");
  if (!left.empty() && (x_rank == 0 || y_rank == 0)) return n.Bad("dims of a scalar");
  if (x_rank + y_rank > 26) return n.NotYet("tensors of rank ", x_rank, " and ", y_rank);
  std::string a, c, out;
  for (int i = 0; i < x_rank; ++i) a += static_cast<char>('a' + i);
  for (int i = 0; i < y_rank; ++i) c += static_cast<char>('a' + x_rank + i);
  for (size_t i = 0; i < left.size(); ++i)
    c[static_cast<size_t>(Axis(n, right[i], y_rank))] = a[static_cast<size_t>(Axis(n, left[i], x_rank))];
  for (const char letter : a)
    if (c.find(letter) == std::string::npos) out += letter;
  for (const char letter : c)
    if (a.find(letter) == std::string::npos) out += letter;
  n.Out(n.b.Op("Einsum", {x, y}, {{"equation", StrCat(a, ",", c, "->", out)}}));
  return {};
}

// The sum over some dims of the product of three tensors, to which `expand` adds dims of size 1.
Status Trilinear(AtenNode& n) {
  Emit e(n.b);
  Value* product = nullptr;
  for (const auto& [name, dims] : {std::pair{"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}}) {
    Value* v = n.In(name);
    const auto axes = n.Ints(dims);
    if (!axes.empty()) v = e.Unsqueeze(v, axes);
    product = product ? e.Mul(product, v) : v;
  }
  n.Out(e.Reduce("sum", product, n.Ints("sumdim"), false));
  return {};
}

// The operator also returns an error code, which is 0 here.
Status InverseChecked(AtenNode& n) {
  n.Out({n.b.Op("Inverse", {n.In("A")}), n.b.Scalar(DType::kI32, 0)});
  return {};
}

// The operator also returns the LU factorization for the backward pass; both are None here.
Status DetFactors(AtenNode& n) {
  n.Out(n.b.Op("Det", {n.In("A")}));
  n.Return(Arg::None());
  n.Return(Arg::None());
  return {};
}

Status CosineSimilarity(AtenNode& n) {
  Emit e(n.b);
  const DType t = FloatOf(ResultType({&n.Get("x1"), &n.Get("x2")}));
  Value *x = As(n, "x1", t), *y = As(n, "x2", t);
  const int64_t axis = n.Int("dim", 1);
  Value* least = e.Like(x, n.Float("eps", 1e-8));
  const auto unit = [&](Value* v) {
    return e.Div(v, e.Binary("max", e.Reduce("l2", v, {axis}, true), least));
  };
  n.Out(e.Reduce("sum", e.Mul(unit(x), unit(y)), {axis}, false));
  return {};
}

Status Trace(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  Value* eye = n.b.Op("EyeLike", {x});
  n.Out(e.Reduce("sum", e.Mul(x, eye), {0, 1}, false));
  return {};
}

}  // namespace

TERN_CONVERTERS(linalg) {
  table.Add("aten::matmul", [](AtenNode& n) { return MatMul(n, "self", "other"); });
  table.Add("aten::linalg_matmul", [](AtenNode& n) { return MatMul(n, "self", "other"); });
  table.Add("aten::mm", [](AtenNode& n) { return MatMul(n, "self", "mat2"); });
  table.Add("aten::bmm", [](AtenNode& n) { return MatMul(n, "self", "mat2"); });
  table.Add("aten::mv", [](AtenNode& n) { return MatMul(n, "self", "vec"); });
  table.Add("aten::dot", [](AtenNode& n) { return MatMul(n, "self", "tensor"); });
  table.Add("aten::vdot", [](AtenNode& n) { return MatMul(n, "self", "other"); });
  table.Add("aten::inner", [](AtenNode& n) -> Status {
    n.Out(n.b.Op("MatMul", {n.In("self"), n.In("other")}, {{"transpose_b", true}}));
    return {};
  });
  table.Add("aten::linear", Linear);
  table.Add("aten::addmm", [](AtenNode& n) { return AddProduct(n, "mat1", "mat2"); });
  table.Add("aten::addmv", [](AtenNode& n) { return AddProduct(n, "mat", "vec"); });
  table.Add("aten::baddbmm", [](AtenNode& n) { return AddProduct(n, "batch1", "batch2"); });
  table.Add("aten::addbmm", [](AtenNode& n) { return AddProduct(n, "batch1", "batch2", "sum"); });
  table.Add("aten::outer", [](AtenNode& n) { return Outer(n, "vec2"); });
  table.Add("aten::ger", [](AtenNode& n) { return Outer(n, "vec2"); });
  table.Add("aten::einsum", Einsum);
  table.Add("aten::bilinear", Bilinear);
  table.Add("aten::cdist", Distance);
  table.Add("aten::_cdist_forward", Distance);
  table.Add("aten::_pdist_forward", PairDistances);
  table.Add("aten::pdist", PairDistances);
  table.Add("aten::cross", Cross);
  table.Add("aten::linalg_cross", Cross);
  table.Add("aten::inverse", [](AtenNode& n) { return Inverse(n, "self"); });
  table.Add("aten::linalg_inv", [](AtenNode& n) { return Inverse(n, "A"); });
  table.Add("aten::det", [](AtenNode& n) -> Status {
    n.Out(n.b.Op("Det", {n.In("self")}));
    return {};
  });
  table.Add("aten::linalg_det", [](AtenNode& n) -> Status {
    n.Out(n.b.Op("Det", {n.In("A")}));
    return {};
  });
  table.Add("aten::tensordot", TensorDot);
  table.Add("aten::_trilinear", Trilinear);
  table.Add("aten::linalg_inv_ex", InverseChecked);
  table.Add("aten::_linalg_det", DetFactors);
  table.Add("aten::cosine_similarity", CosineSimilarity);
  table.Add("aten::trace", Trace);
}

}  // namespace tern::torch
