#include "ops/ml/linear_classifier.h"

#include "ops/ml/forest.h"

namespace tern {
namespace {

Status Infer(const LinearClassifier& op, InferContext& c) {
  TERN_ASSIGN(const LinearLayout l, LayoutOf(op));
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() > 0 && x[-1].known() && x[-1].value() != l.width)
    return InvalidModel(op.coefficients.size(), " coefficients for ", l.rows, " linear functions need ",
                        l.width, " features, but x has ", x[-1].value());
  TERN_ASSIGN(Dim rows, RowCount(c, l.width));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, l.classes}));
  return {};
}

std::vector<double> ScoresOf(const LinearClassifier& op, const LinearLayout& l, const double* x) {
  std::vector<double> scores(op.intercepts.begin(), op.intercepts.end());
  scores.resize(static_cast<size_t>(l.rows), 0.0);
  for (int64_t k = 0; k < l.rows; ++k)
    for (int64_t i = 0; i < l.width; ++i)
      scores[static_cast<size_t>(k)] +=
          static_cast<double>(op.coefficients[static_cast<size_t>(k * l.width + i)]) * x[i];
  return scores;
}

Status Reference(const LinearClassifier& op, EvalContext& c) {
  TERN_ASSIGN(const LinearLayout l, LayoutOf(op));
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width != l.width) return InvalidArgument("x has ", x.width, " features, but the model has ", l.width);
  std::vector<int64_t> winners;
  std::vector<double> all;
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<double> row = ScoresOf(op, l, x.Row(r));
    row.resize(static_cast<size_t>(std::max<int64_t>(l.classes, 2)));
    winners.push_back(FinishRow(op, l, row.data()));
    all.insert(all.end(), row.begin(), row.begin() + l.classes);
  }
  WriteLabels(op.labels, winners, c.Out("label", {x.count}));
  c.Out("scores", {x.count, l.classes}, all);
  return {};
}

}  // namespace

TERN_OP(LinearClassifier) {
  return OpDef::Of<LinearClassifier>(
             "the class of each row of x by one linear function per class, and the scores")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Flops(No{"depends on the model in the attributes"})
      .Batch(No{"rows are small compared with the model in the attributes"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
