// NonZero: indices of the nonzero elements.
#include "ops/shape/axes.h"
#include "ops/shape/each_index.h"

namespace tern {
namespace {

struct NonZero : NoAttrs {};

Status Infer(const NonZero&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  c.Out("indices", DType::kI64, Shape({x.ranked ? Dim(std::max(1, x.rank())) : Dim(), Dim()}));
  return {};
}

Status Reference(const NonZero&, EvalContext& c) {
  const Tensor& x = c.In("x");
  Dims dims = x.dims();
  if (dims.empty()) dims = {1};  // a scalar counts as a vector of length 1
  std::vector<std::vector<int64_t>> found(dims.size());
  EachIndex(dims, [&](int64_t flat, const Dims& at) {
    if (LoadDouble(x, flat) == 0) return;
    for (size_t d = 0; d < dims.size(); ++d) found[d].push_back(at[d]);
  });
  std::vector<int64_t> all;
  for (const auto& row : found) all.insert(all.end(), row.begin(), row.end());
  c.OutLongs("indices", {static_cast<int64_t>(dims.size()), static_cast<int64_t>(found[0].size())}, all);
  return {};
}

}  // namespace

TERN_OP(NonZero) {
  return OpDef::Of<NonZero>(
             "the indices of the n nonzero elements, as a tensor [rank, n] with one column per element, in row-major order")
      .In("x", kNumbers | kBools)
      .Out("indices", SetOf(DType::kI64))
      .Flops(No{"a search has no arithmetic"})
      .Batch(No{"the size of the result is known at run time only"})
      .Axes(No{"the result contains positions along axes"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
