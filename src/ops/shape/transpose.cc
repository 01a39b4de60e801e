// Transpose: permutes dims.
#include "ir/batch_items.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Transpose {
  std::vector<int64_t> perm;
  template <class V> void Visit(V& v) {
    v("perm", perm, "dim i of y is dim perm[i] of x; empty means that the order of dims is reversed");
  }
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

bool TransposeBatch(BatchItems& b) {
  const auto& perm = b.attrs().As<Transpose>().perm;
  return b.FirstInput() && !perm.empty() && perm[0] == 0;
}

// If only axes of length 1 change their positions, the elements of y are in the order of x, so y is the slice
// of x at offset 0.
std::optional<std::vector<int64_t>> SlicesOfTranspose(const StaticNode& n) {
  const Dims& dims = n.inputs[0].dims;
  std::vector<int64_t> perm = n.attrs->As<Transpose>().perm;
  if (perm.empty())
    for (size_t i = dims.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  int64_t last = -1;
  for (int64_t from : perm) {
    const int64_t axis = from < 0 ? from + static_cast<int64_t>(dims.size()) : from;
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return std::nullopt;
    last = axis;
  }
  return std::vector<int64_t>{0};
}

}  // namespace

TERN_OP(Transpose) {
  return OpDef::Of<Transpose>("x with its dims permuted")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Moves({}, SlicesOfTranspose)
      .Batch(TransposeBatch)
      .Axes(No{"it permutes axes; passes that move transposes handle it"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
