#include "ops/ml/svm_regressor.h"

namespace tern {
namespace {

Status Check(const SVMRegressor& op) {
  if (op.rho.empty()) return InvalidModel("rho is missing");
  if (op.supports < 0) return InvalidModel("supports is ", op.supports, ", but must not be negative");
  if (op.coefficients.empty()) return InvalidModel("coefficients are missing");
  const auto n = static_cast<size_t>(op.supports);
  if (n && op.coefficients.size() < n)
    return InvalidModel(op.coefficients.size(), " coefficients for ", n, " support vectors");
  if (n && op.vectors.size() % n)
    return InvalidModel(op.vectors.size(), " numbers do not form ", n, " support vectors");
  return {};
}

Status Infer(const SVMRegressor& op, InferContext& c) {
  TERN_TRY(Check(op));
  TERN_ASSIGN(Dim rows, RowCount(c, WidthOf(op)));
  c.Out("y", DType::kF32, Shape({rows, 1}));
  return {};
}

Status Reference(const SVMRegressor& op, EvalContext& c) {
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  const int64_t width = WidthOf(op);
  if (x.width != width) return InvalidArgument("x has ", x.width, " features, but the model has ", width);
  std::vector<double> y;
  for (int64_t r = 0; r < x.count; ++r) {
    double sum = op.rho[0];
    for (int64_t s = 0; s < op.supports; ++s)
      sum += op.coefficients[static_cast<size_t>(s)] *
             SimilarityOf(op, x.Row(r), op.vectors.data() + s * width, width);
    for (int64_t i = 0; op.supports == 0 && i < width; ++i)
      sum += op.coefficients[static_cast<size_t>(i)] * x.Row(r)[i];
    y.push_back(op.one_class ? (sum > 0 ? 1 : -1) : sum);
  }
  c.Out("y", {x.count, 1}, y);
  return {};
}

}  // namespace

TERN_OP(SVMRegressor) {
  return OpDef::Of<SVMRegressor>(
             "for each row of x, rho plus the weighted sum of the kernel function of the row and each support vector")
      .In("x", kFloats | kIndices)
      .Out("y", SetOf(DType::kF32))
      .Flops(No{"depends on the model in the attributes"})
      .Batch(No{"rows are small compared with the model in the attributes"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
