// Transpose: dims in another order.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Transpose {
  std::vector<int64_t> perm;
  template <class V> void Visit(V& v) { v("perm", perm, "y's dim i is x's dim perm[i]; empty reverses all"); }
};

Result<std::vector<int>> Permutation(const Transpose& op, int rank) {
  if (op.perm.empty()) {
    std::vector<int> reversed;
    for (int i = rank; i-- > 0;) reversed.push_back(i);
    return reversed;
  }
  if (static_cast<int>(op.perm.size()) != rank)
    return InvalidModel("perm [", Join(op.perm, ","), "] has ", op.perm.size(), " entries for a rank-", rank,
                        " tensor");
  return NormalizeAxes(op.perm, rank);
}

Status Infer(const Transpose& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (!x.ranked) {
    c.Out("y", c.TypeOf("x"), op.perm.empty() ? Shape() : Shape(std::vector<Dim>(op.perm.size())));
    return {};
  }
  TERN_ASSIGN(const auto perm, Permutation(op, x.rank()));
  std::vector<Dim> dims;
  for (int p : perm) dims.push_back(x[p]);
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  if (auto content = c.ContentOf("x")) c.OutContent("y", *content);
  return {};
}

Status Reference(const Transpose& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const auto perm, Permutation(op, x.rank()));
  const Dims from = ContiguousStrides(x.dims());
  Dims dims, strides;
  for (int p : perm) {
    dims.push_back(x.dim(p));
    strides.push_back(from[static_cast<size_t>(p)]);
  }
  Tensor& y = c.Out("y", dims);
  CopyElements(x, {0, strides}, y, {0, ContiguousStrides(dims)}, dims);
  return {};
}

}  // namespace

TERN_OP(Transpose) {
  return OpDef::Of<Transpose>("x with its dims permuted")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
